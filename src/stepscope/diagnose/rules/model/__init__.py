"""How a model is built: layers nobody sees, layers that do nothing, outputs that cannot reach their targets."""
