//! What each caller is offered at each MCP endpoint, and that it is exactly what it may call (`mcp.md` 5 to 8).

mod lists;
mod told;
