"""Questions over HTTP and MCP: what is asked, what is answered, and both servers."""
