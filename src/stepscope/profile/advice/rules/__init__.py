"""Rules over profiles, one a file: `rules/<group>/<rule>.py`, as in `diagnose/rules`."""
