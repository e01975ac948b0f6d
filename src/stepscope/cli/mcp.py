"""`stepscope mcp`: runs for coding agents, over the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

__all__ = ["command"]


@click.command(name="mcp")
@click.argument("dirs", nargs=-1, type=click.Path(path_type=Path))
@click.option("--allow-edit", is_flag=True, help="Also let the agent change tags, notes and names of runs.")
@click.option("--http", is_flag=True, help="Serve HTTP on this machine, with a token, instead of stdin and stdout.")
@click.option("--port", type=click.IntRange(0, 65535), default=7017, show_default=True, help="The port for --http.")
@click.option("--token", help="The token for --http; a new one by default. Better in $STEPSCOPE_TOKEN.")
def command(dirs: tuple[Path, ...], allow_edit: bool, http: bool, port: int, token: str | None) -> None:
    """Let a coding agent ask about your runs.

    An agent (Claude Code, Cursor, VS Code, Codex ...) starts this command itself: name it in the agent's settings. It
    answers why a run failed, with the line and the proof. Read-only unless you say otherwise.

    \b
    claude mcp add stepscope -- stepscope mcp /path/to/stepscope-runs
    stepscope mcp runs/ --allow-edit
    stepscope mcp --http --port 7017
    """
    stores = [store.absolute() for store in dirs] or [
        Path(os.environ.get("STEPSCOPE_DIR", "stepscope-runs")).absolute()
    ]
    if http:
        from stepscope.agents.http import serve_http

        serve_http(stores, port, token or os.environ.get("STEPSCOPE_TOKEN"), allow_edit, click.echo)
        return
    from stepscope.agents.server import serve_stdio

    if sys.stdin.isatty():
        click.echo(
            "stepscope mcp waits for an agent on stdin; see docs/integrations/agents.md. Ctrl-C ends it.", err=True
        )
    serve_stdio(stores, allow_edit)
