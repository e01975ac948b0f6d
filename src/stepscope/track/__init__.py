"""The logging API inside the training process. `session` opens a run; `run` is the script's handle to it."""
