"""What was observed of a training, as plain records: written by observers, stored in a run, read by rules. No torch."""
