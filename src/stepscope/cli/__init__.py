"""The command line: one subcommand a file, assembly only. A file of this folder is a command by having `command`."""
