"""`stepscope edit`: change a run's tags, notes or name."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option
from stepscope.cli._terminal import clean


@click.command(name="edit", short_help="Change the tags, notes or name of runs.")
@click.argument("runs", nargs=-1, required=True)
@store_option
@click.option("--tag", "-t", multiple=True, help="Add this tag; can be repeated.")
@click.option("--untag", multiple=True, help="Remove this tag.")
@click.option("--note", help="Replace the run's notes; '' removes them.")
@click.option("--name", help="The run's new name.")
@click.option("--allow-secrets", is_flag=True, help="Save the text even if it seems to contain a password or key.")
@json_option
def command(
    runs: tuple[str, ...],
    store: Path,
    tag: tuple[str, ...],
    untag: tuple[str, ...],
    note: str | None,
    name: str | None,
    allow_secrets: bool,
    as_json: bool,
) -> None:
    """Change tags, notes or the name of runs.

    Changes are appended to the run's logs, so a running run can be edited.

    \b
    stepscope edit last --tag baseline --note "lower learning rate"
    stepscope edit 01JCQ4 01JCQ7 --untag wip
    stepscope edit last --name "first try"
    """
    from stepscope.views.edit import EditRequest, changes, write_changes

    found = [open_named(run, store) for run in runs]
    events = changes(
        EditRequest(runs=[run.id for run in found], add_tags=list(tag), remove_tags=list(untag), notes=note, name=name),
        words="--tag, --untag, --note or --name",
        allow_secrets=allow_secrets,
    )
    for run in found:
        write_changes(run.path, run.id, events)
        run.refresh()
        if as_json:
            continue
        tags = "  ".join(clean(one) for one in run.tags)
        click.echo(f"{clean(run.name)}  {run.id}" + (f"  tags: {tags}" if tags else ""))
    if as_json:
        keys = ("id", "name", "project", "tags", "notes")
        print_json([{key: getattr(run, key) for key in keys} for run in found])
