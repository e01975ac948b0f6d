"""What a checkpoint holds that `torch.load` refuses: the entry of the saved dict, and plain values for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope.common.syntax import said
from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.crash.classes import own_class
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING
from stepscope.evidence.frame_values import Held
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.diagnose.source import SourceFile

_REFUSED = re.compile(r"GLOBAL ([\w.]+) was not an allowed global|Unsupported class ([\w.]+)")
_SCALARS, _ARRAYS = ("multiarray.scalar", "numpy.dtype"), ("multiarray._reconstruct", "numpy.ndarray")
_DEEPEST = 4


@dataclass(frozen=True)
class Refused:
    """The class that is refused; the entry that holds such an object, where it was found."""

    kind: str
    site: Site | None = None
    key: str = ""
    text: str = ""
    plain: str = ""
    """The same in plain values: `vars(args)`."""


def refused(run: Evidence, crash: Crash, saved: Site | None) -> Refused | None:
    told = _REFUSED.search(crash.text)
    if told is None:
        return None
    kind = told[1] or told[2]
    for file, key, value in _entries(run, saved):
        held = _value(run, crash, file, value, 0)
        plain = _plain(crash, kind, held, said(value, 200))
        if plain:
            return Refused(kind, file.site(value), key, said(value), plain)
    return Refused(kind)


def _entries(run: Evidence, saved: Site | None) -> Iterator[tuple[SourceFile, str, ast.expr]]:
    """The entries of the dict that a `torch.save` was given; the thing itself where it is no dict."""
    call = run.source.call(saved)
    file = None if saved is None else run.source.file(saved.file)
    if call is None or file is None or not call.args:
        return
    given: ast.expr = call.args[0]
    if isinstance(given, ast.Name):
        binding = binding_of(file, given.id, call)
        given = given if binding is None or binding.value is None else binding.value
    if isinstance(given, ast.Dict):
        for key, value in zip(given.keys, given.values, strict=True):
            yield file, said(key), value
    elif isinstance(given, ast.Call) and said(given.func) == "dict":
        for word in given.keywords:
            yield file, repr(word.arg), word.value
    else:
        yield file, "", given


def _value(run: Evidence, crash: Crash, file: SourceFile, node: ast.expr, depth: int) -> Any:
    """What an expression stood for: read in the frames that are left, through the calls that handed it over."""
    function = file.enclosing(node, ast.FunctionDef)
    names = [] if function is None else [one.arg for one in function.args.args]
    if function is not None and isinstance(node, ast.Name) and node.id in names and depth < _DEEPEST:
        place = names.index(node.id) - (names[0] == "self")
        for other in run.source.files():
            for call in other.calls(function.name):
                given = next((word.value for word in call.keywords if word.arg == node.id), None)
                given = given or (call.args[place] if 0 <= place < len(call.args) else None)
                if given is not None:
                    return _value(run, crash, other, given, depth + 1)
    values = (frame.value_of(node) for frame in reversed(crash.own))
    return next((value for value in values if value is not MISSING), MISSING)


def _plain(crash: Crash, kind: str, held: Any, text: str) -> str:
    """The object in plain values, if it is of the refused class; "" for any other."""
    if isinstance(held, Module):
        return f"{text}.state_dict()"
    if not isinstance(held, Held):
        return ""
    if kind.endswith(_SCALARS) and held.is_a("generic"):
        return f"{text}.item()"
    if kind.endswith(_ARRAYS) and held.is_a("ndarray"):
        return f"torch.from_numpy({text})"
    if held.type != kind.rpartition(".")[2]:
        return ""
    if held.is_a("Namespace", "SimpleNamespace"):
        return f"vars({text})"
    if held.is_a("PurePath"):
        return f"str({text})"
    if held.is_a("Enum"):
        return f"{text}.value"
    if held.is_a("dict"):
        return f"dict({text})"
    return f"dataclasses.asdict({text})" if _is_dataclass(crash, held.type) else f"vars({text})"


def _is_dataclass(crash: Crash, name: str) -> bool:
    found = own_class(crash, name)
    marks = [] if found is None else [said(mark) for mark in found.node.decorator_list]
    return any("dataclass" in mark for mark in marks)
