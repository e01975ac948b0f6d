"""The only way to open untrusted files. docs/design/026-hostile-files.md has the rules."""
