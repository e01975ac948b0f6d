"""Tensors that are not where the model is: found without an accelerator."""
