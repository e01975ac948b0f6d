"""The *Model* page and the part *Step*: one recorded step, op by op."""
