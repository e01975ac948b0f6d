"""What a run printed: lines, windows of them, and search."""
