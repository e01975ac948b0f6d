"""The server behind the browser app: assembly only. Data is made in `views`, read from `runs`."""
