"""`stepscope ui`: the browser app."""

from __future__ import annotations

import os
from pathlib import Path

import click

__all__ = ["command"]


@click.command(name="ui")
@click.argument("dirs", nargs=-1, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 7007 or the next free one by default.")
@click.option(
    "--token", help="The access token; a new one by default. Better in $STEPSCOPE_TOKEN than on the command line."
)
@click.option(
    "--token-file", type=click.Path(path_type=Path), help="A file that holds the token, readable by you alone."
)
@click.option("--no-token", is_flag=True, help="No token: only on this machine, for a machine you share with nobody.")
@click.option("--allow-host", multiple=True, help="A host name the page may be opened under (behind a proxy).")
@click.option("--read-only", is_flag=True, help="Nothing can be changed from the page.")
@click.option("--no-compact", is_flag=True, help="Leave the logs of ended runs as they are.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
def command(
    dirs: tuple[Path, ...],
    host: str,
    port: int | None,
    token: str | None,
    token_file: Path | None,
    no_token: bool,
    allow_host: tuple[str, ...],
    read_only: bool,
    no_compact: bool,
    open_browser: bool,
) -> None:
    """Open the browser app.

    \b
    stepscope ui                       # ./stepscope-runs
    stepscope ui runs/ /shared/runs --port 8000
    """
    from stepscope.server.serve import serve

    folders = list(dirs) or [Path(os.environ.get("STEPSCOPE_DIR", "stepscope-runs"))]
    serve(
        folders,
        host=host,
        port=port,
        token=token or (None if token_file else os.environ.get("STEPSCOPE_TOKEN")),
        no_token=no_token,
        token_file=token_file,
        allow_hosts=allow_host,
        read_only=read_only,
        compact=not no_compact,
        open_browser=open_browser,
        say=click.echo,
    )
