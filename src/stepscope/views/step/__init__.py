"""The *Model* page and the *Step* part: one recorded step, op by op."""
