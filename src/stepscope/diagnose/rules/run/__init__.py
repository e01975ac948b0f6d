"""What a stored run shows by itself: its curves, its console, its config, its machine."""
