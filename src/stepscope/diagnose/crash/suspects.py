"""The value that a crash is about: the expression of the user's whose type the failing line could not take."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.common.syntax import said
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, Frame, type_name
from stepscope.evidence.frame_values import HeldTensor

_WRONG = (
    re.compile(r"'(?P<kind>[\w.]+)' object (?P<what>is not callable|is not iterable|is not subscriptable)"),
    re.compile(r"'(?P<kind>[\w.]+)' object (?P<what>has no attribute) '(?P<name>\w+)'"),
    re.compile(r"object of type '(?P<kind>[\w.]+)' (?P<what>has no len)"),
    re.compile(r"'(?P<kind>[\w.]+)' object (?P<what>cannot be interpreted as an integer|does not support item)"),
    re.compile(r"(?P<what>must be)(?: a)? (?:Tensor|tuple of ints|tuple of ints or int).*, not (?P<kind>[\w.]+)"),
    re.compile(r"(?P<what>unsupported operand) type\(s\) for [^:]+: '(?P<kind>[\w.]+)' and '(?P<other>[\w.]+)'"),
    re.compile(r"(?P<what>not supported) between instances of '(?P<kind>[\w.]+)' and '(?P<other>[\w.]+)'"),
    re.compile(r"(?P<what>slice indices must be integers)"),
    re.compile(r"type (?P<what>must be) tuple of ints, ?but got (?P<kind>\w+)"),
    re.compile(r"(?P<what>must be tuple of ints), but found element of type (?P<kind>\w+)"),
    re.compile(r"expected np\.ndarray \((?P<what>got) (?P<kind>\w+)\)"),
    re.compile(r"cannot (?P<what>unpack) non-iterable (?P<kind>[\w.]+) object"),
    re.compile(r"float\(\) argument (?P<what>must be) a string or a real number, not '(?P<kind>[\w.]+)'"),
    re.compile(r"can only concatenate \w+ \(not \"(?P<kind>[\w.]+)\"\) (?P<what>to)"),
    re.compile(r"can't (?P<what>multiply) sequence by non-int of type '(?P<kind>[\w.]+)'"),
)
_NUMBERS = ("int", "float", "bool")


@dataclass(frozen=True)
class Suspect:
    """An expression in a frame of the user's, and what it held."""

    node: ast.AST
    frame: Frame
    value: Any
    kind: str
    """The class of its value, as the message names it."""
    what: str
    """What could not be done with it: "is not callable"."""
    name: str = ""
    """The attribute that was asked for."""

    @property
    def text(self) -> str:
        return said(self.node)


def suspect_of(crash: Crash) -> Suspect | None:
    """The expression whose value has the type that the message complains of; None where it is not clear which."""
    if not crash.is_a("TypeError", "AttributeError") or crash.worker is not None:
        return None
    told = next((found for sign in _WRONG if (found := sign.search(crash.text))), None)
    frame = crash.last
    if told is None or frame is None or frame.running is None:
        return None
    given = told.groupdict()
    kinds = [kind.rpartition(".")[2] for kind in (given.get("kind"), given.get("other")) if kind]
    kinds = kinds or ["float"]
    name = given.get("name") or ""
    compared = _compared(frame, kinds, name)
    if compared is not None:
        return compared
    unknown: Suspect | None = None
    for node in _asked(frame, given["what"], name, crash):
        value = frame.value_of(node)
        kind = type_name(value)
        if value is MISSING:
            if len(kinds) == 1 and _gives(node, kinds[0]) and (not name or crash.frames[-1] is frame):
                unknown = unknown or Suspect(node, frame, value, kinds[0], given["what"], name)
            continue
        if kinds == ["Size"] and type(value) is tuple:
            return Suspect(node, frame, value, "Size", given["what"], name)
        wanted = [one for one in kinds if len(kinds) == 1 or one not in _NUMBERS or kinds[0] == kinds[1]] or kinds
        if kind in wanted or (kind == "method" and kinds == ["function"]):  # Python asks the method's function
            return Suspect(node, frame, value, kind, given["what"], name)
    return unknown


def _compared(frame: Frame, kinds: list[str], name: str) -> Suspect | None:
    """`(a == b).float()` where one of them is not a tensor: comparing gives a plain bool."""
    if kinds != ["bool"] or not name:
        return None
    for one in ast.walk(frame.running or ast.Pass()):
        if isinstance(one, ast.Attribute) and one.attr == name and isinstance(one.value, ast.Compare):
            for side in (one.value.left, *one.value.comparators):
                value = frame.value_of(side)
                if value is not MISSING and not isinstance(value, HeldTensor):
                    return Suspect(side, frame, value, type_name(value), "is compared")
    return None


def _asked(frame: Frame, what: str, name: str, crash: Crash) -> Iterator[ast.AST]:
    """The expressions that may hold it, the likeliest first."""
    node = frame.running
    innermost = bool(crash.frames) and crash.frames[-1] is frame
    if what == "is not callable" and isinstance(node, ast.Call) and innermost:
        yield node.func
        return
    if what == "has no attribute":
        yield from (
            one.value for one in ast.walk(node or ast.Pass()) if isinstance(one, ast.Attribute) and one.attr == name
        )
        if innermost:
            return
    if isinstance(node, (ast.For, ast.AsyncFor)):
        if innermost:
            yield node.iter
        return
    if isinstance(node, ast.Call):
        yield from node.args
        yield from (word.value for word in node.keywords)
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        return
    if isinstance(node, ast.Assign):
        yield node.value
        return
    yield from _parts(node)


def _gives(node: ast.AST, kind: str) -> bool:
    """Whether an expression that is not a variable may be the one: a call, a quotient, a method that is not called."""
    if kind in ("method", "function", "builtin_function_or_method"):
        return isinstance(node, ast.Attribute)
    if kind == "float" and isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div)
    return isinstance(node, ast.Call)


def _parts(node: ast.AST | None) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.AugAssign):
        yield from (node.target, node.value)
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.Subscript):
        yield node.value
        yield from (one for one in ast.walk(node.slice) if isinstance(one, (ast.Name, ast.Attribute)))
    elif node is not None:
        yield node
