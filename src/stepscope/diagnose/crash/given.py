"""Where the value of an argument comes from that torch has refused."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.turning_point import made_before
from stepscope.diagnose.edits.literals import given_argument, written_at
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source

_POSITIONS = {"num_classes": 1}
"""Of functions that are not written in Python."""


def given_line(source: Source, crash: Crash, name: str) -> Site | None:
    """A tensor's: the line that computed it, before rows were picked. A number's: where it is written."""
    for frame in reversed(crash.frames):
        value = frame.locals.get(name)
        if frame.own or not isinstance(value, HeldTensor) or value.origin is None:
            continue
        site = made_before(crash, value.origin)
        if site is not None:
            return site
    call = None if crash.last is None else crash.last.running
    given = given_argument(call, _POSITIONS.get(name), name) if isinstance(call, ast.Call) else None
    file = None if crash.last is None else source.file(crash.last.file)
    at = None if file is None or given is None else file.at(node_site(file.path, given))
    return None if file is None or at is None else file.site(written_at(file, at))
