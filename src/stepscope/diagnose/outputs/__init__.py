"""Findings for other programs: one file a format, each with `write(findings, path)`."""
