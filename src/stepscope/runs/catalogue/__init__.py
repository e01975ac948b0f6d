"""The runs of a store: found, listed, filtered, sorted, and remembered in a disposable index."""
