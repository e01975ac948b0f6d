"""What makes a step slow, as a profile shows it."""
