"""`python -m stepscope` is the command line."""

from stepscope.cli.main import main

if __name__ == "__main__":
    main()
