"""Plain results in, text out: one file per format, and one row per format in `formats.FORMATS`."""
