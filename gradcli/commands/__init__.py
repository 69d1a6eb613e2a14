"""One file per command: options, then a call, then a report, then an exit status."""
