"""Sizes that torch's layers divide into equal parts: values into heads, channels into groups."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.edits.literals import written_at
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source

_SIGNS = (r"divisible by", r"not divisible")
_PAIRS = (
    *(("embed_dim", "num_heads"), ("d_model", "nhead"), ("hidden_size", "num_attention_heads")),
    *(("in_channels", "groups"), ("out_channels", "groups"), ("num_channels", "num_groups")),
)


@dataclass(frozen=True)
class Parts:
    """A size, the number of parts it does not divide into, and where the size is written."""

    size_name: str
    size: int
    parts_name: str
    parts: int
    site: Site | None
    fewer: int = 1
    """The largest smaller number of parts that divides all sizes which are divided into so many."""


def parts_of(source: Source, crash: Crash) -> Parts | None:
    if not crash.is_a("AssertionError", "ValueError") or not crash.says(*_SIGNS):
        return None
    own = [index for index, frame in enumerate(crash.frames) if frame.own]
    for frame in crash.frames[own[-1] + 1 :] if own else ():
        for size_name, parts_name in _PAIRS:
            size, parts = frame.locals.get(size_name), frame.locals.get(parts_name)
            if type(size) is int and type(parts) is int and parts > 0 and size % parts:
                sizes = [frame.locals.get(name) for name, other in _PAIRS if other == parts_name]
                whole = [one for one in sizes if type(one) is int]
                fewer = max(n for n in range(1, parts + 1) if all(one % n == 0 for one in whole))
                return Parts(size_name, size, parts_name, parts, _written(source, crash, size), fewer)
    return None


def _written(source: Source, crash: Crash, size: int) -> Site | None:
    """Where the number stands that the user's call hands to the layer; the call itself where that is not clear."""
    frame = crash.last
    call = None if frame is None else frame.running
    if frame is None or not isinstance(call, ast.Call):
        return None
    given = [*call.args, *(word.value for word in call.keywords)]
    fitting = [one for one in given if frame.value_of(one) == size]
    file = source.file(frame.file)
    at = None if file is None or len(fitting) != 1 else file.at(node_site(frame.file, fitting[0]))
    if file is None or at is None:
        return crash.site
    end = written_at(file, at, size)
    return file.site(end) if isinstance(end, ast.Constant) and end.value == size else crash.site
