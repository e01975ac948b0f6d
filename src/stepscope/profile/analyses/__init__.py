"""The analyses: one a file, found by being here. Each makes a sheet, a curve, a stack or step parts of a profile."""
