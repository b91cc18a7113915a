"""The tools of other MCP servers: which there are, and calls of them."""
