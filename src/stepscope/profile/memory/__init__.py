"""Memory: blocks with their lives and categories, out of a trace or out of CUDA's own history."""
