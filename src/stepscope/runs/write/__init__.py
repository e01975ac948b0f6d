"""The write side, inside the training process: from a row of numbers to the disk, whatever the disk does."""
