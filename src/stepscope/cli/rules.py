"""`stepscope rules`: all rules in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stepscope.cli._options import json_option, print_json
from stepscope.cli._terminal import SEVERITY_STYLE, clean, console

if TYPE_CHECKING:
    from stepscope.diagnose.catalogue import RuleDoc


@click.command(name="rules", short_help="List the rules: everything Stepscope can find.")
@click.argument("patterns", nargs=-1)
@click.option("--severity", type=click.Choice(["error", "warning", "info"]), help="Only rules of this severity.")
@json_option
def command(patterns: tuple[str, ...], severity: str | None, as_json: bool) -> None:
    """List the rules: what Stepscope finds.

    PATTERNS are ids, groups or globs; without any, all rules are listed.

    \b
    stepscope rules
    stepscope rules opt loss
    stepscope rules '*.no-*' --severity error
    """
    from stepscope.diagnose.catalogue import rule_docs
    from stepscope.diagnose.patterns import check_patterns, closeness, split_patterns

    chosen = split_patterns(patterns)
    check_patterns(chosen, "stepscope rules")
    docs = [
        doc
        for doc in rule_docs().values()
        if (not chosen or closeness(chosen, doc.id) >= 0) and severity in (None, doc.severity)
    ]
    if as_json:
        print_json([doc.to_dict() for doc in docs])
        return
    _print(docs)


def _print(docs: list[RuleDoc]) -> None:
    from rich.table import Table
    from rich.text import Text

    from stepscope.diagnose.catalogue import group_title

    out = console()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    group = ""
    for doc in docs:
        if doc.group != group:
            if group:
                table.add_row()
            table.add_row(Text(doc.group, style="bold"), "", Text(group_title(doc.group), style="bold"))
            group = doc.group
        shown = Text(doc.severity, style=SEVERITY_STYLE[doc.severity])
        table.add_row(f"  {clean(doc.id)}", shown, clean(doc.summary))
    out.print(table)
    counts = {level: sum(doc.severity == level for doc in docs) for level in SEVERITY_STYLE}
    said = ", ".join(f"{count} {level}" for level, count in counts.items() if count)
    out.print(f"\n{len(docs)} rule{'' if len(docs) == 1 else 's'}{f' ({said})' if said else ''}", style="dim")
    if docs:
        out.print("stepscope explain RULE describes one", style="dim")
