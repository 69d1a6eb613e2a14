"""Which files a command line stands for: directories and globs gone through, ignore files respected."""
