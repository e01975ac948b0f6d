"""`stepscope diagnose`: what is wrong with stored runs, from any source."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import catalogue_of, json_option, open_named, print_json, store_option
from stepscope.cli._terminal import SEVERITY_STYLE, STATUS_STYLE, clean, console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from stepscope.diagnose.stored.engine import Diagnosis
    from stepscope.records import Finding
    from stepscope.runs.read.folder import RunFolder


@click.command(name="diagnose", short_help="Find out what is wrong with stored runs.")
@click.argument("runs", nargs=-1)
@store_option
@click.option("--all", "everything", is_flag=True, help="Diagnose all runs in the folder.")
@click.option("--query", help="Diagnose the runs that match, such as 'status = failed'.")
@json_option
def command(runs: tuple[str, ...], store: Path, everything: bool, query: str | None, as_json: bool) -> None:
    """Find out what is wrong with stored runs.

    Works from the run folder alone: no script, no torch, no GPU. Checks losses and metrics, the console, the
    config and the system metrics, and repeats the findings from while the script ran. RUNS are paths, ids or the
    beginning of one, names, or `last` (the newest run, the default).

    \b
    stepscope diagnose last
    stepscope diagnose --query 'status = failed'
    stepscope diagnose --all --json > findings.json

    The exit code is 1 if an error was found in any of them.
    """
    from stepscope.diagnose.settings import load_settings
    from stepscope.diagnose.stored.many import diagnose_runs

    settings = load_settings()
    folders = _chosen(runs, store, everything, query)
    many = everything or query is not None or len(folders) > 1
    documents, worst = [], 0
    for folder, found in diagnose_runs(folders, settings):
        worst = max(worst, any(one.severity == "error" for one in found.findings))
        if as_json:
            documents.append(_document(folder, found))
        elif many:
            _brief(console(), folder, found)
        else:
            _whole(console(), folder, found)
    if as_json:
        print_json(documents if many else documents[0])
    elif not folders:
        console().print("No run was chosen: the store is empty, or the query selects none.")
    sys.exit(int(worst))


def _chosen(runs: tuple[str, ...], store: Path, everything: bool, query: str | None) -> list[RunFolder]:
    """The runs the user named, in their order, or those of the store."""
    if not everything and query is None:
        return [open_named(run, store) for run in runs or ("last",)]
    if runs:
        raise click.UsageError("give runs by name, or choose them with --all or --query, not both")
    with catalogue_of(store) as catalogue:
        found = [catalogue.get(entry.id) for entry in catalogue.entries(query or "")]
        for path, reason in catalogue.problems.items():  # report what was not checked
            click.echo(f"{path.name} cannot be read: {clean(reason)}", err=True)
        return found


def _whole(out: Console, folder: RunFolder, found: Diagnosis) -> None:
    from stepscope.diagnose.show import render

    def show(findings: list[Finding]) -> None:
        for finding in _worst_first(findings):
            out.print()
            click.echo(render(finding, color=colored, width=min(out.width, 120), root=root), color=colored)

    out.print(_title(folder, folder.id))
    colored = out.color_system is not None
    root = Path(folder.meta.cwd or "/")
    later = found.stored if found.asked else []
    show([one for one in found.findings if one not in later])
    if later:
        out.print("\nNew, found in what the run has kept:", style="bold")
        show(later)
    out.print()
    for line in closing_lines(found):
        out.print(line, style="dim")


def closing_lines(found: Diagnosis) -> list[str]:
    """What was checked and what was not: a run recorded without watching has not passed."""
    looked = ", ".join(found.looked_at) or "nothing: the run has no numbers, no console and no config"
    lines = [f"Checked: {looked}."]
    if not found.findings:
        lines.insert(0, "Nothing was found.")
    lines += [f"Not checked: {problem}." for problem in found.problems]
    if not found.watched:
        lines.append("Not watched: run the script with `stepscope run` to apply all rules while it trains.")
    return lines


def _brief(out: Console, folder: RunFolder, found: Diagnosis) -> None:
    """One line for the run, and one per finding."""
    count = len(found.findings)
    out.print(_title(folder, "nothing found" if not count else f"{count} finding{'s' if count != 1 else ''}"))
    for finding in _worst_first(found.findings):
        text = f"  {finding.severity}[{clean(finding.rule)}]: {clean(finding.message)}"
        out.print(text, style=SEVERITY_STYLE[finding.severity], markup=False, highlight=False)


def _title(folder: RunFolder, more: str) -> Text:
    from rich.text import Text

    status = (folder.status, STATUS_STYLE[folder.status])
    return Text.assemble((clean(folder.name), "bold"), "  ", status, "  ", (more, "dim"))


def _worst_first(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda one: list(SEVERITY_STYLE).index(one.severity))


def _document(folder: RunFolder, found: Diagnosis) -> dict[str, Any]:
    return {
        "run": folder.id,
        "name": folder.name,
        "status": folder.status,
        "watched": found.watched,
        "looked_at": found.looked_at,
        "not_looked_at": found.problems,
        "findings": found.findings,
    }
