"""Numbers of the wrong kind: double for float, floats for indices, bytes that wrap."""
