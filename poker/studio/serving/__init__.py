"""Questions over HTTP and MCP: the questions, the answers, and both servers."""
