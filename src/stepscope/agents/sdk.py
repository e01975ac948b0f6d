"""The official SDK, whose first and second major versions use different names. Nothing else here imports it.

1.x: `mcp.server.fastmcp.FastMCP`, camel-case fields · 2.x: `mcp.server.mcpserver.MCPServer`, snake-case fields with the
camel-case names as aliases. So messages are created by `model_validate` with their wire names.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

from stepscope import __version__
from stepscope.errors import MissingExtra


def require_sdk() -> None:
    """Report what to install if the SDK is missing. Call it before importing anything that needs pydantic."""
    if find_spec("mcp") is None:
        raise MissingExtra("stepscope mcp", "the package mcp", extra="agents")


def make_server(name: str, instructions: str) -> Any:
    """A server of the installed SDK. It logs warnings to stderr: stdout belongs to the protocol."""
    require_sdk()
    try:
        from mcp.server.mcpserver import MCPServer
    except ModuleNotFoundError:
        from mcp.server.fastmcp import FastMCP

        with warnings.catch_warnings():  # about a field of the SDK's own settings
            warnings.simplefilter("ignore")
            server = FastMCP(name, instructions=instructions, log_level="WARNING")
        server._mcp_server.version = __version__  # 1.x has no argument for it and would report its own
        return server
    return MCPServer(name, instructions=instructions, version=__version__, log_level="WARNING")


def tool_annotations(title: str, edits: bool) -> Any:
    """What a client may rely on: a reading tool changes nothing, and none reaches beyond this machine."""
    from mcp.types import ToolAnnotations

    hints = {"title": title, "readOnlyHint": not edits, "destructiveHint": False, "openWorldHint": False}
    return ToolAnnotations.model_validate(hints)


def result(text: str, data: dict[str, Any] | None = None, is_error: bool = False) -> Any:
    """What a tool sends back."""
    from mcp.types import CallToolResult

    wire: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if data is not None:
        wire["structuredContent"] = data
    return CallToolResult.model_validate(wire)


def http_app(server: Any) -> Any:
    """The server as an ASGI app at /mcp. Both versions reject hosts and origins other than this machine."""
    return server.streamable_http_app()
