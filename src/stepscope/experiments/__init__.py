"""Experiments: what `stepscope check` tries on copies of the model and the data. One per file; all are discovered."""
