"""The one way to open a file that somebody else may have made. docs/design/026-hostile-files.md has the rules."""
