"""The terms of a sum, named as the source names them: `loss = recon + beta * kld` has `recon` and `kld`."""

from __future__ import annotations

import ast
import linecache
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stepscope.launch.source_names import name_of
from stepscope.records.step import Site

MOST_TERMS = 8
_WEIGHT = re.compile(
    r"coef|weight(?!ed)|alpha|beta|gamma|lambda|lam(?![a-z])|scale(?!d)|factor|(?:^|_)w(?:$|_)|cfg|config|args",
    re.IGNORECASE,
)
_LOSS = re.compile(r"loss|err|kl|nll|bce|mse|entropy|penalty", re.IGNORECASE)
SUMS = frozenset({"add", "sub", "rsub", "add_", "sub_"})
PRODUCTS = frozenset({"mul", "div", "mul_", "div_", "neg"})


@dataclass(frozen=True)
class Made:
    """A number on the way to a loss: the operation that made it, of what, and where in the source."""

    value: Any
    """Detached: nothing here keeps a graph alive."""
    op: str
    inputs: tuple[Made | None, ...]
    """The inputs that have a gradient; None for the others, in their order."""
    site: Site | None
    name: str = ""
    """The key under which the model returned it."""


def terms_of(loss: Made | None) -> dict[str, Any]:
    """The terms of a loss by their names; {} where it is not a sum, or where a name is missing or has two meanings."""
    sums = loss
    while sums is not None and sums.op not in SUMS:  # scaled, or divided by the steps of an accumulation
        only = [one for one in sums.inputs if one is not None]
        if sums.op not in PRODUCTS or len(only) != 1:
            return {}
        sums = only[0]
    if sums is None:
        return {}
    found: list[tuple[str, Any]] = []
    _gather(sums, found)
    names = [name for name, _ in found]
    if len(found) < 2 or len(found) > MOST_TERMS or len(set(names)) < len(names) or "" in names:
        return {}
    return dict(found)


def _gather(sums: Made, found: list[tuple[str, Any]]) -> None:
    nodes = _operands(sums.site)
    if sums.op == "rsub":  # `1 - x`: the tensor comes first
        nodes = nodes[::-1]
    for at, made in enumerate(sums.inputs):
        if made is None or len(found) > MOST_TERMS:
            continue
        if made.op in SUMS:
            _gather(made, found)
            continue
        term, node = _without_weight(made, nodes[at] if at < len(nodes) else None)
        found.append((_name(node, term), term.value))


def _without_weight(made: Made, node: ast.expr | None) -> tuple[Made, ast.expr | None]:
    """`beta * kld` is weighted here: the term is `kld`. A product that has a name of its own is a term as it is."""
    if (returned := _returned(made)) is not None:
        return returned, None
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        with_grad = [one for one in made.inputs if one is not None]
        if made.op not in PRODUCTS or len(with_grad) != 1:
            break
        made = with_grad[0]
        node = node.left if isinstance(node.op, ast.Div) or _is_weight(node.right, node.left) else node.right
    return made, node


def _returned(made: Made) -> Made | None:
    """A loss that the model returned under a name, also where it is weighted here."""
    while not made.name and made.op in PRODUCTS:
        with_grad = [one for one in made.inputs if one is not None]
        if len(with_grad) != 1:
            return None
        made = with_grad[0]
    return made if made.name else None


def _is_weight(right: ast.expr, left: ast.expr) -> bool:
    """Of `kld * 0.1` and `v_loss * args.vf_coef` it is on the right; of `beta * kld`, as most write it, on the left."""
    return _looks_like_weight(right) and not _looks_like_weight(left)


def _looks_like_weight(node: ast.expr) -> bool:
    """A number, a setting (`args.c`, `CONFIG["c"]`), or a name that says so."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and _looks_like_weight(node.value)
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if _WEIGHT.search(name) or _LOSS.search(name):
        return _WEIGHT.search(name) is not None
    return isinstance(node, ast.Constant | ast.Attribute) or name.isupper()


def _name(node: ast.expr | None, made: Made) -> str:
    if made.name:
        return made.name
    name = "" if node is None else name_of(node)
    if is_term_name(name):
        return name
    return made.op if made.op not in SUMS | PRODUCTS else ""


def is_term_name(name: object) -> bool:
    """Whether a series can be called so beside the `loss` itself."""
    return isinstance(name, str) and name != "loss" and re.fullmatch(r"[A-Za-z_]\w*", name) is not None


def _operands(site: Site | None) -> list[ast.expr]:
    """The two sides of the sum at a place of the source."""
    if site is None or site.column is None or site.end_line is None or site.end_column is None:
        return []
    return list(_parsed(site.file, site.line, site.end_line, site.column, site.end_column))


@lru_cache(maxsize=512)
def _parsed(file: str, line: int, end_line: int, column: int, end_column: int) -> tuple[ast.expr, ...]:
    lines = linecache.getlines(file)[line - 1 : end_line]
    if not lines:
        return ()
    raw = [one.encode() for one in lines]  # columns count bytes
    raw[-1] = raw[-1][:end_column]
    raw[0] = raw[0][column:]
    try:
        (statement,) = ast.parse(b"".join(raw).decode().replace("\n", " ")).body
    except (SyntaxError, ValueError, UnicodeDecodeError):
        return ()
    if isinstance(statement, ast.AugAssign):
        return statement.target, statement.value
    node = statement.value if isinstance(statement, ast.Expr) else None
    return (node.left, node.right) if isinstance(node, ast.BinOp) else ()
