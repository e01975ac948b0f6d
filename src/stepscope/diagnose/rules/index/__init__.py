"""Numbers outside the range they index: token ids, positions, labels."""
