"""Remove a secret from a stored run: `stepscope scrub`."""
