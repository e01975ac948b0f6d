"""Profiles of launched scripts: deep windows in any run, and the session of `stepscope profile`."""
