"""The terms of a sum, named as the source names them: `loss = recon + beta * kld` has `recon` and `kld`."""

from __future__ import annotations

import ast
import linecache
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stepscope.launch.source_names import loop_variables, name_of
from stepscope.launch.value_names import name_given
from stepscope.record.sites import Spot, place_at
from stepscope.records.place import Place
from stepscope.records.step import Site

MOST_TERMS = 8
_WEIGHT = re.compile(
    r"coef|weight(?!ed)|alpha|beta|gamma|lambda|lam(?![a-z])|scale(?!d)|factor|(?:^|_)w(?:$|_)|cfg|config|args",
    re.IGNORECASE,
)
_LOSS = re.compile(r"loss|err|kl|nll|bce|mse|entropy|penalty", re.IGNORECASE)
SUMS = frozenset({"add", "sub", "rsub", "add_", "sub_"})
PRODUCTS = frozenset({"mul", "div", "mul_", "div_", "neg"})
STACKS = frozenset({"stack", "hstack"})
REDUCTIONS = frozenset({"sum", "mean"})
"""Of a stack of losses: a sum, too."""


@dataclass(frozen=True)
class Made:
    """A number on the way to a loss: the operation that made it, of what, and where in the source."""

    value: Any
    """Detached: nothing here keeps a graph alive."""
    op: str
    inputs: tuple[Made | None, ...] = ()
    """The inputs that have a gradient; None for the others, in their order."""
    spots: tuple[Spot, ...] = ()
    """Where it was made in the user's code, and the calls around that place, from the inside out."""
    name: str = ""
    """The key under which the model returned it."""

    @property
    def is_sum(self) -> bool:
        return self.op in SUMS or (self.op in STACKS and len(self.inputs) > 1)

    @property
    def site(self) -> Site | None:
        return place_at(*self.spots[0]).site if self.spots else None


@dataclass(frozen=True)
class _Term:
    """One of the summed losses."""

    made: Made
    written: str
    """Its name in the expression of the sum."""
    given: str
    """What it was called where it was made."""


def terms_of(loss: Made | None) -> dict[str, Any]:
    """The terms of a loss by their names; {} where it is not a sum, or where a name is missing or has two meanings."""
    sums = loss
    while sums is not None and not sums.is_sum:  # scaled, or divided by the steps of an accumulation
        only = [one for one in sums.inputs if one is not None]
        if sums.op not in PRODUCTS | REDUCTIONS or len(only) != 1:
            return {}
        sums = only[0]
    if sums is None:
        return {}
    found = _gathered(sums)
    return {name: one.made.value for name, one in zip(_names(found), found, strict=False)}


def _gather(sums: Made, found: list[_Term]) -> None:
    for made, node in zip(sums.inputs, _nodes(sums), strict=True):
        if made is None or len(found) > MOST_TERMS:
            continue
        if made.op in SUMS and not _is_term(made, node, sums):
            _gather(made, found)
            continue
        term, node = _without_weight(made, node)
        found.append(_Term(term, _written(node, term, sums), _given(term, sums)))


def _is_term(made: Made, node: ast.expr | None, sums: Made) -> bool:
    """`1 - dice`, made elsewhere, is one loss; the sum of a loop in another function, too."""
    if isinstance(node, ast.BinOp) or not made.spots:
        return False
    if sum(one is not None for one in made.inputs) == 1:
        return bool(_written(node, made, sums) or _given(made, sums))
    is_elsewhere = made.spots[0][0] is not sums.spots[0][0]
    return is_elsewhere and not _names(_gathered(made))


def _gathered(sums: Made) -> list[_Term]:
    found: list[_Term] = []
    _gather(sums, found)
    return found


def _names(found: list[_Term]) -> list[str]:
    """Of the terms in their order; none where one is missing or has two meanings."""
    written = Counter(one.written for one in found)
    names = [one.written if one.written and written[one.written] == 1 else one.given for one in found]
    is_plain = 2 <= len(found) <= MOST_TERMS and len(set(names)) == len(names) and "" not in names
    return names if is_plain else []


def _nodes(sums: Made) -> list[ast.expr | None]:
    """The expression in the source for each of the inputs of a sum."""
    nodes = _operands(sums.site)
    if sums.op == "rsub":  # `1 - x`: the tensor comes first
        nodes = nodes[::-1]
    if len(nodes) != len(sums.inputs):
        return [None] * len(sums.inputs)
    if sums.op not in STACKS and None in sums.inputs:  # a number is added, and torch is given the tensor first
        named = [one for one in nodes if one is not None and is_term_name(name_of(one))]
        nodes = [named[0] if len(named) == 1 and one is not None else None for one in sums.inputs]
    return nodes


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


def _written(node: ast.expr | None, made: Made, sums: Made) -> str:
    if made.name or node is None or sums.site is None:
        return made.name
    name = name_of(node)
    if isinstance(node, ast.Name):
        is_sum_so_far = name == _name_at((place_at(*sums.spots[0]),))  # `total = total + kld`
        if is_sum_so_far or name in loop_variables(sums.site.file):
            return ""
    return name if is_term_name(name) else ""


def _given(made: Made, sums: Made) -> str:
    """By the function that makes the sum, or by those it calls; else by the operation."""
    sum_code = sums.spots[0][0] if sums.spots else None
    codes = [code for code, _ in made.spots]
    inside = codes.index(sum_code) + 1 if sum_code in codes else 1
    name = _name_at(tuple(place_at(*spot) for spot in made.spots[:inside]))
    if is_term_name(name):
        return name
    return made.op if made.op not in SUMS | PRODUCTS | REDUCTIONS | STACKS else ""


@lru_cache(maxsize=512)
def _name_at(places: tuple[Place, ...]) -> str:
    return name_given([place.site for place in places])


def is_term_name(name: object) -> bool:
    """Whether a series can be called so beside the `loss` itself."""
    return isinstance(name, str) and name != "loss" and re.fullmatch(r"[A-Za-z_]\w*", name) is not None


def _operands(site: Site | None) -> list[ast.expr | None]:
    """The two sides of the sum at a place of the source, or the elements of a list that is stacked."""
    if site is None or site.column is None or site.end_line is None or site.end_column is None:
        return []
    return list(_parsed(site.file, site.line, site.end_line, site.column, site.end_column))


@lru_cache(maxsize=512)
def _parsed(file: str, line: int, end_line: int, column: int, end_column: int) -> tuple[ast.expr | None, ...]:
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
        return None, statement.value
    node = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.List | ast.Tuple):  # of a stack
        return () if any(isinstance(one, ast.Starred) for one in node.args[0].elts) else tuple(node.args[0].elts)
    return (node.left, node.right) if isinstance(node, ast.BinOp) else ()
