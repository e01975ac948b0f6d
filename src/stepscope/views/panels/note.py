"""A remark that stands out from the text."""

from __future__ import annotations

from typing import Literal

from stepscope.errors import UsageError
from stepscope.views.panels._panel import Bound, Options, PanelKind
from stepscope.views.report_pack import Packing
from stepscope.views.report_pictures import Pictures, markdown_text

__all__ = ["PANEL"]

_ALERTS = {"info": "NOTE", "good": "TIP", "warning": "WARNING"}


class NoteOptions(Options, kw_only=True):
    text: str = ""
    tone: Literal["info", "good", "warning"] = "info"


def check(bound: Bound) -> None:
    if not bound.options.text:
        raise UsageError("note needs text")


def pack(bound: Bound, packing: Packing) -> None:
    """Its text is all there is."""


def write(bound: Bound, out: Pictures) -> str:
    return f"> [!{_ALERTS[bound.options.tone]}]\n> {markdown_text(bound.options.text)}\n"


PANEL = PanelKind("note", "A remark that stands out", NoteOptions, pack, write, check, needs_runs=0)
