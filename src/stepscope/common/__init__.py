"""What every room says the same way. No torch, and nothing of the other rooms."""
