"""Reinforcement learning: targets, episodes, target networks."""
