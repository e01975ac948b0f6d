"""Changes of the failing line that were tried in a copy of the process and let the script go on."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from stepscope.diagnose.edits import Span
from stepscope.records import Finding
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.edits import Plan
    from stepscope.diagnose.evidence import Evidence
    from stepscope.diagnose.rule import Proof
    from stepscope.diagnose.source import Source
    from stepscope.evidence.repairs import Repair

_AT_USE = ("made a tensor", "listed", "function")
_OF_VALUES = (
    *("number", "item", "attribute", "one of several", "value", "length", "range", "called", "unpacked", *_AT_USE),
)
_TRIED = "tried in a copy of this process: the script then runs on"


def repairs_of(run: Evidence) -> list[Repair]:
    """Those found after this crash; none where nothing could be tried."""
    found = run.tables.get("repairs")
    return [] if found is None else found.all


def sure_repair(run: Evidence) -> Repair | None:
    """The change that hardly runs through by accident."""
    return next((one for one in repairs_of(run) if one.is_sure), None)


def site_of(repair: Repair) -> Site:
    first, last, begin, end = repair.spots[0].span
    return Site(file=repair.file, line=first, end_line=last, column=begin, end_column=end)


def plan_of(repair: Repair) -> Plan:
    """The change as an edit."""

    def plan(source: Source) -> Sequence[Span] | None:
        file = source.file(repair.file)
        if file is None:
            return None
        spans = [(spot.span, spot.new) for spot in repair.spots]
        return [Span(file, (first, begin), (last, end), new) for (first, last, begin, end), new in spans]

    return plan


def advice(repair: Repair) -> str:
    return f"write `{repair.new}` ({_TRIED})"


def alternatives(repairs: Sequence[Repair]) -> str:
    """What to write where several changes ran through: the reader knows which is meant."""
    shown = list(dict.fromkeys(f"`{one.new}`" for one in repairs))[:3]
    if len(shown) == 1:
        return f"write {shown[0]} ({_TRIED})"
    return f"choose what you mean; each of these was tried in a copy of this process and runs on: {', '.join(shown)}"


def tried_or(repairs: Sequence[Repair], fix: str) -> str:
    """A rule's own advice, if a trial has not shown that other changes are the ones that run."""
    return fix if not repairs or any(_bare(one.new) in _bare(fix) for one in repairs) else alternatives(repairs)


def agrees(finding: Finding, repair: Repair) -> bool:
    """Whether a finding recommends this very change, in its words or in an edit of its own."""
    said = _bare(finding.fix + " ".join(line for edit in finding.edits for one in edit.changes for line in one.new))
    new = repair.new
    if repair.kind == "near name":
        new = new.rpartition(".")[2].strip("'\"")
    return re.search(re.escape(_bare(new)) + r"(?![\w\[(.])", said) is not None


def says_the_same(finding: Finding, repair: Repair) -> bool:
    """Whether a finding is about the same value, here or where it comes from, with another fix: it keeps its words.

    Where a trial contradicts what a rule says of shapes or of a name, the rule has read the line wrongly.
    """
    lines = {finding.line, *(one.line for one in finding.related)}
    return repair.kind in _OF_VALUES and bool(lines & {one.span[0] for one in repair.spots})


def with_change(finding: Finding, proof: Proof, repair: Repair) -> tuple[Finding, Proof]:
    """Both with the change that ran as the fix, unless they have an edit or tell where the value is made."""
    is_here = finding.line in {one.span[0] for one in repair.spots}
    if proof.edit is not None or not (is_here or repair.kind in _AT_USE):
        return finding, proof
    return structs.replace(finding, fix=advice(repair)), dataclasses.replace(proof, edit=plan_of(repair))


def _bare(text: str) -> str:
    return text.replace(" ", "").replace('"', "'")
