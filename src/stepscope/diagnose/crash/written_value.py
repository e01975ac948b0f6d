"""Where a number that ended up in a tensor is written: `padding_value=-1`, `full(..., -1)`, `fillna(-1)`."""

from __future__ import annotations

import ast
from contextlib import suppress

from stepscope.common.syntax import statement_at
from stepscope.diagnose.array_provenance import story_at
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import story
from stepscope.diagnose.evidence import Evidence
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site

_FILLS = ("pad", "full", "fill", "where", "new_full", "constant")


def filled_with(run: Evidence, crash: Crash, tensor: HeldTensor, value: int) -> Site | None:
    """The call in a tensor's past that fills it with this number."""
    sites = [step.site for step in story(crash, tensor) if step.site is not None]
    past = () if tensor.origin is None else tensor.origin.ancestors(200)
    for origin in past:
        sites += list(story_at(run, origin.place))
    for site in dict.fromkeys(sites):
        statement = statement_at(site.file, site.line)
        for node in ast.walk(statement) if statement is not None else ():
            if isinstance(node, ast.Call) and _fills(node, value):
                return node_site(site.file, node)
    return None


def _fills(call: ast.Call, value: int) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if not any(word in name for word in _FILLS):
        return False
    return any(_number(one) == value for one in (*call.args, *(word.value for word in call.keywords)))


def _number(node: ast.expr) -> object:
    with suppress(ValueError, TypeError, SyntaxError):
        return ast.literal_eval(node) if isinstance(node, (ast.Constant, ast.UnaryOp)) else None
    return None
