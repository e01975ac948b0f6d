"""torch.compile."""
