"""Evaluation: what it costs and what it disturbs."""
