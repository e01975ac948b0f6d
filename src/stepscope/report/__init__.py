"""Reports: Markdown with live panels, their versions, their shares, and their file formats."""
