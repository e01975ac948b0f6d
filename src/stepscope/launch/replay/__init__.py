"""Replay: repeat a failing step from its capsule.

staging which source files run: those on this disk, or the capsule's own rehearsal the script runs up to the step, gets
the saved batch, state and random numbers, and continues replay all of it, under a full trace of values; what came out,
compared with what was recorded telling the story for a person
"""
