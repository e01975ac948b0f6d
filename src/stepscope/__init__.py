"""Stepscope: see inside every training step."""
