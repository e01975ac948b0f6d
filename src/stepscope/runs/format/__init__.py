"""The byte format of a run folder: frames, chunks, names and paths, shared by writer and reader."""
