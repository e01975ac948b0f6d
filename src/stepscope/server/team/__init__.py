"""The calls of a team server about its people: one file per subject, found by listing like the views."""
