"""Probes: what `stepscope check` tries out on copies of the model and of the data. One probe a file; all are found."""
