"""Notebooks: the live panel of a run, `%load_ext stepscope` with its magics, and rich displays."""
