"""Memory that runs out or is never freed."""
