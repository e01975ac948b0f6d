"""The read side: log files followed while they are written, assembled into one run."""
