"""Where a loss was made a plain number: `.item()` in a loop, or in the function that gives a trainer its loss."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence

_NUMBERS = ("item", "float", "tolist", "numpy")


def made_a_number(run: Evidence, crash: Crash) -> tuple[Site | None, str]:
    """Where the loss was made a number, and by what: in the function that gives it to the trainer, or in the loop."""
    works = run.trainer.works
    at = works.site if works is not None and not _says_backward(crash) else crash.site
    file = None if at is None else run.source.file(at.file)
    if at is None or file is None:
        return at, ""
    call = _last_number(file, at.line)
    return (at, "") if call is None else (file.site(call), _said(call))


def _says_backward(crash: Crash) -> bool:
    """Whether the user's own line calls backward: the loop is theirs."""
    node = None if crash.last is None else crash.last.running
    return node is not None and "backward" in ast.unparse(node)


def _last_number(file: SourceFile, line: int) -> ast.Call | None:
    """The last call before the line, in the same function, that makes a number of a tensor."""
    scopes = [one for one in file.walk(ast.FunctionDef) if one.lineno <= line <= (one.end_lineno or line)]
    scope = max(scopes, key=lambda one: one.lineno, default=None)
    before = [
        call
        for call in file.calls(*_NUMBERS)
        if call.lineno <= line and (scope is None or call.lineno >= scope.lineno) and not _is_told(file, call)
    ]
    return max(before, key=lambda call: call.lineno, default=None)


def _is_told(file: SourceFile, call: ast.Call) -> bool:
    """A number that is printed or logged is meant to be one."""
    return any(isinstance(one, ast.Call) and called_name(one) in ("print", "log", "append") for one in file.up(call))


def _said(call: ast.Call) -> str:
    name = called_name(call)
    return f"{name}()" if isinstance(call.func, ast.Name) else f".{name}()"
