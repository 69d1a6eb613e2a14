"""The `gradcli` command, and `python -m gradcli`."""

import sys

INTERRUPTED = 130


def main() -> None:
    """The command line, which takes a moment to import: Ctrl-C may come before it is there to be told."""
    try:
        from gradcli.cli import main as run  # `from gradcli import cli` would ask the library for the name first, and load it all

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
