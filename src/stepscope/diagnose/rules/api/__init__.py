"""Calls of torch that cannot work: removed names, forgotten constructors, tuples for tensors."""
