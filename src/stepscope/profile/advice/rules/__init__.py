"""One piece of advice a file."""
