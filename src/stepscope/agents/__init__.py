"""The MCP server: a coding agent asks about runs and gets the evidence. `tools/` has what it can ask."""
