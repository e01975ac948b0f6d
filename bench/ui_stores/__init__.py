"""The same runs in each tool's own store, and how each tool is served: one file for each."""
