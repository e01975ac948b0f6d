"""Gradients that do not arrive where they should, or where they should not."""
