"""The exact line to write: a `DataLoader(...)` call in the user's source with other arguments."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from typing import Any, NamedTuple

_POSITIONS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory")


class Change(NamedTuple):
    file: str
    line: int
    old: list[str]
    new: list[str]


def rewritten(file: str, line: int, arguments: Mapping[str, Any]) -> Change | None:
    """The lines of the call at a place, as they are and as they should be; None where there is no such call.

    Keyword arguments that are there are changed, others are added at the end; how the call is laid out stays.
    """
    lines = linecache.getlines(file)
    source = "".join(lines)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    call = _call_at(tree, line)
    if call is None or not arguments:
        return None
    first, last = call.lineno - 1, call.end_lineno or call.lineno
    begins = [0]
    for text in lines:
        begins.append(begins[-1] + len(text.encode()))
    raw = bytearray(source.encode())  # ast counts bytes
    for start, end, text in sorted(_edits(call, arguments, begins), reverse=True):
        raw[start:end] = text.encode()
    changed = raw.decode().splitlines()
    added = len(changed) - len(lines)
    return Change(file, line, [text.rstrip("\n") for text in lines[first:last]], changed[first : last + added])


def _call_at(tree: ast.AST, line: int) -> ast.Call | None:
    """The smallest call around the line whose name speaks of a loader."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and _name(node.func).lower().endswith(("loader", "dataloader"))
    ]
    return min(found, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _edits(call: ast.Call, arguments: Mapping[str, Any], begins: list[int]) -> list[tuple[int, int, str]]:
    def at(line: int | None, column: int | None) -> int:
        return begins[(line or 1) - 1] + (column or 0)

    edits: list[tuple[int, int, str]] = []
    new: list[str] = []
    known = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    positional = dict(zip(_POSITIONS, call.args, strict=False))
    for name, value in arguments.items():
        stands = known.get(name) or positional.get(name)
        if stands is not None:
            edits.append(
                (at(stands.lineno, stands.col_offset), at(stands.end_lineno, stands.end_col_offset), repr(value))
            )
        else:
            new.append(f"{name}={value!r}")
    parts: list[Any] = [*call.args, *(keyword.value for keyword in call.keywords)]
    if new and parts:
        last = max(parts, key=lambda part: (part.end_lineno, part.end_col_offset))
        place = at(last.end_lineno, last.end_col_offset)
        edits.append((place, place, ", " + ", ".join(new)))
    return edits
