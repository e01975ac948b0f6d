"""The demo: example scripts trained through `stepscope run`, so that every page has something to show."""
