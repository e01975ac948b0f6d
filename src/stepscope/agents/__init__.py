"""The MCP server: a coding agent asks about runs and gets the evidence. `tools/` has the available calls."""
