"""One page's data per file, and its route beside it."""
