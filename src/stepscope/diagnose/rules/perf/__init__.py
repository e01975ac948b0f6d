"""Time that is lost without need."""
