"""The bytes of a run folder: frames, chunks, names, places. What writing and reading share."""
