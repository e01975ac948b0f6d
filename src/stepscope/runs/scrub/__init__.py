"""Take a secret out of a run that is on the disk already: `stepscope scrub`."""
