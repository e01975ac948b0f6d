"""The logging API inside the training process. `session` opens a run, `run` is what the script holds."""
