"""The timeline of a trace: where each event is drawn, what a screen shows of it, what is asked by pointing at it."""
