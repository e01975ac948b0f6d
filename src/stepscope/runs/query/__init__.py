"""The run query language."""
