"""Other servers that turns use: tools by MCP, requests by HTTP, and their secrets."""
