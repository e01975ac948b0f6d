"""Modes that are wrong or left on: train and eval, gradients on and off."""
