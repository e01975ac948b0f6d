"""Memory that runs out or is never let go."""
