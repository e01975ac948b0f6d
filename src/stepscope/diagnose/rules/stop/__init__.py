"""When training ends, and with which weights."""
