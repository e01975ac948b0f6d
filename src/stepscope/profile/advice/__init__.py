"""What to change, and what it would gain: one piece of advice a file, in the format of the findings."""
