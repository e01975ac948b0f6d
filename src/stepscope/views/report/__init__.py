"""Reports: their texts as blocks, the contents of a shared file, and access."""
