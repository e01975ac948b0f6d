"""The input pipeline: what workers do, what the loop waits for, and which settings would be faster."""
