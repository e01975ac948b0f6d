"""Collectors: they run inside the training process, behind the fence, and write tables and facts."""
