"""How a model starts: weights that are all the same, or far too large."""
