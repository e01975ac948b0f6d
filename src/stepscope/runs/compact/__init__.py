"""Compaction: the rows of finished log files become columns."""
