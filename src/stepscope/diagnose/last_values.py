"""Loops over batches that keep only what the last batch gave: names that each pass overwrites, read after the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.diagnose.source import SourceFile, called_name, dotted

_TRAINS = frozenset({"backward", "step", "zero_grad", "manual_backward"})
_SCORES = frozenset((
    "mean", "item", "sum", "accuracy_score", "f1_score", "roc_auc_score", "average_precision_score", "r2_score",
    "mean_squared_error", "mean_absolute_error", "mse_loss", "l1_loss", "cross_entropy", "accuracy", "criterion",
    "loss_fn",
))  # fmt: skip


@dataclass(frozen=True)
class LastValue:
    """A name that a loop overwrites at each turn, and the first statement after the loop that reads it."""

    loop: ast.For
    name: str
    made: ast.Assign
    used: ast.stmt
    score: ast.stmt
    """The statement that makes a score of it."""


def last_values(file: SourceFile, loop: ast.For) -> Iterator[LastValue]:
    """Scores of the last turn only; none for a loop that trains, or that ends itself."""
    nodes = [node for statement in loop.body for node in ast.walk(statement)]
    if any(called_name(node) in _TRAINS or isinstance(node, (ast.Break, ast.Return, ast.Yield)) for node in nodes):
        return
    made = {target.id: node for node in nodes if isinstance(node, ast.Assign) for target in _names_set(node)}
    kept = _kept(nodes, made)
    for name, statement in made.items():
        if name in kept or not any(isinstance(part, ast.Call) for part in ast.walk(statement.value)):
            continue
        used = _first_read(file, loop, name)
        if used is None:
            continue
        both: tuple[ast.stmt, ast.stmt] = (statement, used)
        score = next((one for one in both if _is_score(one)), None)
        if score is not None:
            yield LastValue(loop, name, statement, used, score)


def _names_set(node: ast.AST) -> list[ast.Name]:
    if not isinstance(node, ast.Assign):
        return []
    parts = [part for target in node.targets for part in getattr(target, "elts", [target])]
    return [part for part in parts if isinstance(part, ast.Name)]


def _kept(nodes: list[ast.AST], made: dict[str, ast.Assign]) -> set[str]:
    """The names whose values go somewhere that lasts: into a sum, a list, an attribute, another turn."""
    kept: set[str] = set()
    for node in nodes:
        if isinstance(node, (ast.AugAssign, ast.Expr)):
            kept |= _read(node)
        elif isinstance(node, ast.Assign):
            names = {target.id for target in _names_set(node)}
            if not names or names & _read(node.value):
                kept |= _read(node)
    for _ in range(len(made)):
        more = {name for one in kept & set(made) for name in _read(made[one].value)} - kept
        if not more:
            break
        kept |= more
    return kept


def _read(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)} | (
        {dotted(node.target)} if isinstance(node, ast.AugAssign) else set()
    )


def _first_read(file: SourceFile, loop: ast.For, name: str) -> ast.stmt | None:
    """The statement after the loop, in its own block or around it, that reads the name first."""
    inner: ast.AST = loop
    for outer in file.up(loop):
        for block in (getattr(outer, "body", None), getattr(outer, "orelse", None)):
            if not isinstance(block, list) or inner not in block:
                continue
            for statement in block[block.index(inner) + 1 :]:
                if name in _read(statement):
                    return statement if isinstance(statement, _SIMPLE) else None
                if any(target.id == name for node in ast.walk(statement) for target in _names_set(node)):
                    return None
        if isinstance(outer, (ast.FunctionDef, ast.For, ast.While)):
            return None
        inner = outer
    return None


_SIMPLE = (ast.Return, ast.Assign, ast.Expr, ast.AugAssign)


def _is_score(statement: ast.stmt) -> bool:
    for node in ast.walk(statement):
        if isinstance(node, ast.Compare) and any(isinstance(one, ast.Eq) for one in node.ops):
            return True
        if called_name(node) in _SCORES:
            return True
    return False
