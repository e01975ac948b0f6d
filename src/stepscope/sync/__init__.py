"""Copies of runs on a server: what is sent, how it is checked, and how it is kept. See docs/design/031."""
