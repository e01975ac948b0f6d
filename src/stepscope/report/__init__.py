"""Reports: Markdown with live panels, their versions, their shares, and the files they are told in."""
