"""Reports: their texts as blocks, what a shared file carries, and who may see it."""
