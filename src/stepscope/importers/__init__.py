"""Runs that other tools recorded, read from their files and kept as runs of ours. docs/design/021 has the plan."""
