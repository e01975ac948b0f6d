"""`stepscope lsp`: findings and quick fixes in an editor, over the Language Server Protocol."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.runs.store import usual_store


@click.command(name="lsp", short_help="Show findings and their fixes in an editor.")
@click.argument("dirs", nargs=-1, type=click.Path(path_type=Path))
@json_option
def command(dirs: tuple[Path, ...], as_json: bool) -> None:
    """Show findings and their fixes in an editor, over the Language Server Protocol.

    An editor (Neovim, Helix, Emacs, Zed, VS Code with a generic client) starts this command itself; --json prints what
    to put into its settings. An open file shows the findings of its newest run, each with its edit as a quick fix.
    Only runs in DIRS are read; nothing is executed or written.

    \b
    stepscope lsp runs/ --json         # the lines for an editor's settings
    """
    stores = [store.absolute() for store in dirs or (usual_store(),)]
    if as_json:
        arguments = ["-m", "stepscope", "lsp", *map(str, stores)]
        print_json({"stepscope": {"command": sys.executable, "args": arguments, "languages": ["python"]}})
        return
    from stepscope.integrations.language_server import serve

    if sys.stdin.isatty():
        click.echo("stepscope lsp waits for an editor on stdin; --json prints the settings. Ctrl-C ends it.", err=True)
    serve(stores, sys.stdin.buffer, sys.stdout.buffer)
