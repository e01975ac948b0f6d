from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.data_sources import function_at
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.row_order import shuffled_without_targets
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted

_LABELS = re.compile(
    r"^(y|t|lab|labels?|targets?|classes|gold|ys|answers?|out(puts?)?)(_|\d|$)|_(y|labels?|targets?)$", re.I
)
_ORDERS = ("permutation", "randperm")
_SEEDS = ("seed", "manual_seed", "set_state", "setstate", "default_rng", "RandomState", "Random", "Generator")
_CLASHING = 0.3
_FEWEST_SAMPLES = 20


@rule("data.label-misaligned", severity="error", needs="steps, source, end")
def label_misaligned(run: Evidence) -> Iterator[Proof]:
    """Samples and labels are put into different random orders.

    Why it matters: each sample gets the label of another, so there is nothing to learn and the result is at chance.

    What to do: draw one order and use it for both: `order = torch.randperm(n); x, y = x[order], y[order]`. A collate
    function that sorts must sort samples and labels together.

    How it is found: the random draw that picked the rows is not the one that picked the targets; or all rows were put
    into a random order and their targets into none; or the source shuffles two arrays one after the other; or it
    shuffles one array alone, and the same samples come with other labels in a later pass; or a batch from `collate_fn`
    has its samples in another order than its labels.

    Bad:
        x, y = x[torch.randperm(n)], y[torch.randperm(n)]
    Good:
        order = torch.randperm(n)
        x, y = x[order], y[order]
    """
    for target in run.targets.all:
        if len(target.apart) >= 3:
            of_data, of_target = target.apart[0]
            yield _proof(of_target.place, "the rows and their targets are picked by two different random draws",
                         [(of_data.place, "the draw that picks the rows")])  # fmt: skip
        elif target.strange_loader is not None and target.strange >= 3:
            fed_by, targets_by = target.strange_loader
            yield _proof(targets_by.made or target.place, "samples and labels come from two loaders that shuffle apart",
                         [(fed_by.made, "the loader of the samples")])  # fmt: skip
    mixed: dict[Any, int] = {}
    for call in run.losses.calls:
        pick = shuffled_without_targets(call) if call.trains else None
        if pick is not None and pick.place is not None:
            mixed[pick.place] = mixed.get(pick.place, 0) + 1
    for place, times in mixed.items():
        if times >= 3:
            yield _proof(place, "the rows are shuffled, but their targets are not", [])
    if run.progress.step >= 2 or run.over:
        for file in run.source.files():
            for one, other in _apart_in_source(file):
                yield _proof(file.site(other), "samples and labels are shuffled one after the other, in two orders",
                             [(file.site(one), "the first order")])  # fmt: skip
    for target in run.targets.all if run.over else ():
        if target.clashes > _CLASHING * max(target.samples, _FEWEST_SAMPLES):
            seen = f"{target.clashes} of {target.samples} samples came with two different labels"
            said = f"the samples are shuffled, but not their labels: {seen}"
            for file in run.source.files():
                for alone in _shuffled_alone(file):
                    yield _proof(file.site(alone), said, [(target.place, "the loss compares with the labels here")])
    for delivery in run.loader_output.all:
        known = function_at(run, delivery.loader.collate) if delivery.misplaced else None
        if known is not None:
            file, function = known
            sorts = [c for c in ast.walk(function) if called_name(c) in ("sorted", "sort", "argsort", "shuffle")]
            said = "the collate function reorders the samples, but not the labels"
            yield _proof(file.site(sorts[0] if sorts else function), said, [])


def _proof(where: Any, message: str, related: list[tuple[Any, str]]) -> Proof:
    return Proof(
        where=where,
        message=message,
        label="labels no longer match their samples",
        fix="use one order for both: order = torch.randperm(n); x, y = x[order], y[order]",
        related=related,
    )


def _apart_in_source(file: SourceFile) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Two random orders in one scope, close to each other: one for an array only, one for its labels only."""
    for scope in file.walk(ast.Module, ast.FunctionDef):
        orders = [found for node in _own_statements(scope) if (found := _order(file, node)) is not None]
        users: dict[ast.AST, set[bool]] = {}
        for name, draw, _ in orders:
            users.setdefault(draw, set()).add(bool(_LABELS.search(name)))
        for (name, draw, first), (other, draw2, second) in pairwise(orders):
            if draw is draw2 or not (name and other) or len(users[draw]) > 1 or len(users[draw2]) > 1:
                continue
            if users[draw] == users[draw2] or second.lineno - first.lineno > 6:
                continue
            if not _seeded_between(scope, first, second):
                yield first, second


def _shuffled_alone(file: SourceFile) -> Iterator[ast.stmt]:
    """Statements that put samples into a random order which no labels are put into."""
    for scope in file.walk(ast.Module, ast.FunctionDef):
        orders = [found for node in _own_statements(scope) if (found := _order(file, node)) is not None]
        if any(_LABELS.search(name) for name, _, _ in orders):
            continue
        for name, _, statement in orders:
            if name:
                yield statement


def _own_statements(scope: ast.AST) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    stack = list(getattr(scope, "body", []))
    while stack:
        node = stack.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        found.append(node)
        for field in ("body", "orelse"):
            stack += [child for child in getattr(node, field, []) if isinstance(child, ast.stmt)]
    return sorted(found, key=lambda node: node.lineno)


def _order(file: SourceFile, node: ast.stmt) -> tuple[str, ast.AST, ast.stmt] | None:
    """(what is put into a new order, the draw of the order, the statement): `shuffle(x)`, `x = x[permutation(n)]`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and called_name(node.value) == "shuffle":
        arguments = node.value.args
        return (dotted(arguments[0]).rpartition(".")[2], node.value, node) if arguments else None
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return _by_own_function(file, node, node.value)
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Subscript):
        return None
    index: ast.AST = node.value.slice
    if isinstance(index, ast.Name):
        binding = binding_of(file, index.id, node)
        index = index if binding is None or binding.value is None else binding.value
    if called_name(index) in _ORDERS and not _seeds_itself(index):
        return dotted(node.value.value).rpartition(".")[2], index, node
    return None


def _by_own_function(file: SourceFile, node: ast.Assign, call: ast.Call) -> tuple[str, ast.AST, ast.stmt] | None:
    """`x = mixed(x)`, where the script's own `mixed` draws an order."""
    if len(call.args) != 1 or call.keywords or not isinstance(call.func, ast.Name):
        return None
    name = dotted(call.args[0])
    if not name or [dotted(target) for target in node.targets] != [name]:
        return None
    for function in file.walk(ast.FunctionDef):
        if isinstance(function, ast.FunctionDef) and function.name == call.func.id:
            calls = [part for part in ast.walk(function) if isinstance(part, ast.Call)]
            draws = any(called_name(part) in _ORDERS for part in calls)
            if draws and not any(called_name(part) in _SEEDS for part in calls):
                return name.rpartition(".")[2], call, node
    return None


def _seeds_itself(call: ast.AST) -> bool:
    """`default_rng(0).permutation(n)`, `randperm(n, generator=...)`: the second may be the same as the first."""
    inner = [called_name(part) for part in ast.walk(call) if part is not call]
    words = {word.arg for word in getattr(call, "keywords", ())}
    return any(name in _SEEDS for name in inner) or "generator" in words


def _seeded_between(scope: ast.AST, first: ast.stmt, second: ast.stmt) -> bool:
    return any(
        first.lineno < getattr(node, "lineno", 0) < second.lineno and called_name(node) in _SEEDS
        for node in ast.walk(scope)
        if isinstance(node, ast.Call)
    )
