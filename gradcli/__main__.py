"""`python -m gradcli` is the `gradcli` command."""

from gradcli.cli import main

if __name__ == "__main__":
    main()
