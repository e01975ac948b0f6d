"""`stepscope mcp`: runs for coding agents, over the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from stepscope.cli._json import json_option, print_json
from stepscope.runs.store import usual_store

__all__ = ["command"]


@click.command(name="mcp", short_help="Let a coding agent ask about your runs.")
@click.argument("dirs", nargs=-1, type=click.Path(path_type=Path))
@click.option("--allow-edit", is_flag=True, help="Also let the agent change tags, notes and names of runs.")
@click.option("--http", is_flag=True, help="Serve HTTP on this machine, with a token, instead of stdin and stdout.")
@click.option("--port", type=click.IntRange(0, 65535), default=7017, show_default=True, help="The port for --http.")
@click.option("--token", help="The token for --http; a new one by default. Better in $STEPSCOPE_TOKEN.")
@json_option
def command(dirs: tuple[Path, ...], allow_edit: bool, http: bool, port: int, token: str | None, as_json: bool) -> None:
    """Let a coding agent ask about your runs.

    An agent (Claude Code, Cursor, VS Code, Codex ...) starts this command itself: name it in the agent's settings
    (--json prints them). It answers why a run failed, with the line and the proof. Read-only unless you say otherwise.

    \b
    claude mcp add stepscope -- stepscope mcp /path/to/stepscope-runs
    stepscope mcp runs/ --json         # the lines for an agent's settings
    stepscope mcp runs/ --allow-edit
    stepscope mcp --http --port 7017
    """
    stores = [store.absolute() for store in dirs or (usual_store(),)]
    if as_json:
        print_json({"mcpServers": {"stepscope": _settings(stores, allow_edit)}})
        return
    from stepscope.agents.sdk import require_sdk

    require_sdk()
    if http:
        from stepscope.agents.http import serve_http

        serve_http(stores, port, token or os.environ.get("STEPSCOPE_TOKEN"), allow_edit, click.echo)
        return
    from stepscope.agents.server import serve_stdio

    if sys.stdin.isatty():
        words = "stepscope mcp waits for an agent on stdin; `stepscope mcp --json` prints the settings. Ctrl-C ends it."
        click.echo(words, err=True)
    serve_stdio(stores, allow_edit)


def _settings(stores: list[Path], allow_edit: bool) -> dict[str, Any]:
    """With this interpreter and whole paths: an agent starts it from a folder and with a PATH of its own."""
    arguments = ["-m", "stepscope", "mcp", *map(str, stores), *(["--allow-edit"] if allow_edit else [])]
    return {"command": sys.executable, "args": arguments}
