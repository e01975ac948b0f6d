"""The rules: one a file, `rules/<group>/<rule>.py`. A file dropped here is found, documented, listed and tested."""
