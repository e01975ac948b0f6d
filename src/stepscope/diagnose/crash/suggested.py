"""Code that a fix suggests, made from the call that stands there: changed as a tree, so that what is printed parses."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import deepcopy

from stepscope.common.syntax import said

_LONGEST = 100


def with_argument(call: ast.Call, position: int, name: str, value: str) -> str:
    """The call with this argument set, by its place where it has one there, else by its name."""
    new = deepcopy(call)
    given = ast.parse(value, mode="eval").body
    keyword = next((word for word in new.keywords if word.arg == name), None)
    if keyword is not None:
        keyword.value = given
    elif position < len(new.args):
        new.args[position] = given
    else:
        new.keywords.append(ast.keyword(name, given))
    return said(new, _LONGEST)


def with_missing(call: ast.Call, names: Sequence[str]) -> str:
    """The call with arguments that are still missing, by name behind those that are there; "" where `*` hides some."""
    if any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords):
        return ""
    new = deepcopy(call)
    for name in names:
        value = ast.parse(name, mode="eval").body
        if new.keywords:
            new.keywords.append(ast.keyword(name, value))
        else:
            new.args.append(value)
    return said(new, _LONGEST)
