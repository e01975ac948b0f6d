"""The command line: one file per subcommand, assembly only. A file with a `command` is a subcommand."""
