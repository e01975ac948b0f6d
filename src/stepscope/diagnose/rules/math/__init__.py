"""Mathematics inside models and losses: axes, masks, signs."""
