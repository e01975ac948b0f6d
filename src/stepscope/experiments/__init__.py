"""Experiments: what `stepscope check` tries out on copies of the model and of the data. One a file; all are found."""
