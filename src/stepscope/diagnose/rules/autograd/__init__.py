"""Gradients that cannot flow: graphs that are freed, cut, or written over."""
