"""The runs of a store: discovered, listed, filtered, sorted, and cached in a disposable index."""
