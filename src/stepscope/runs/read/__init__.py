"""The read side: log files followed while they are written, put together into one run."""
