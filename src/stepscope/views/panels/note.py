"""A remark that stands out from the text."""

from __future__ import annotations

from typing import Literal

from stepscope.errors import UsageError
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures

_ALERTS = {"info": "NOTE", "good": "TIP", "warning": "WARNING"}


class NoteOptions(Options, kw_only=True):
    text: str = ""
    tone: Literal["info", "good", "warning"] = "info"


def check(bound: Bound) -> None:
    if not bound.options.text:
        raise UsageError("note needs text; add a line `text: ...`")


def pack(bound: Bound, packing: Packing) -> None:
    """Its text is its whole content."""


def write(bound: Bound, out: Pictures) -> str:
    lines = bound.options.text.split("\n")  # Markdown, like the rest of what the author wrote
    return "\n".join([f"> [!{_ALERTS[bound.options.tone]}]", *(f"> {line}" for line in lines), ""])


PANEL = PanelKind("note", "A remark that stands out", NoteOptions, pack, write, check, needs_runs=0)
