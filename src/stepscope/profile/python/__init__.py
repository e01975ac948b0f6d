"""Python functions and lines: cProfile, the sampler, `.prof` files, call trees."""
