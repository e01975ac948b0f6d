from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile

_RIGHT = "requires_grad"


@rule("grad.requires-grad-typo", severity="error", needs="source, steps")
def requires_grad_typo(run: Evidence) -> Iterator[Proof]:
    """`requires_grad` is misspelt, set on a module, or not set at all, so nothing is frozen.

    Why it matters: Python creates a new attribute without a word. The layers that should be frozen go on learning.

    What to do: `p.requires_grad = False` for each parameter, or `module.requires_grad_(False)`.

    How it is found: an assignment to an attribute that is nearly called `requires_grad`, to the method
    `requires_grad_`, or to `requires_grad` of a module; a comparison where an assignment was meant.

    Bad:
        for p in backbone.parameters():
            p.require_grad = False
    Good:
        for p in backbone.parameters():
            p.requires_grad = False
    """
    for file in run.source.files():
        yield from _misspelt(file)
        yield from _no_assignment(file)
        yield from _on_modules(run, file)


def _misspelt(file: SourceFile) -> Iterator[Proof]:
    read = {node.attr for node in file.walk(ast.Attribute) if isinstance(node.ctx, ast.Load)}
    for node in file.walk(ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Attribute) or target.attr == _RIGHT or not _is_bool(node.value):
                continue
            if _is_own(file, target, node) or (target.attr in read and target.attr != "requires_grad_"):
                continue
            if difflib.SequenceMatcher(None, target.attr.lower(), _RIGHT).ratio() < 0.85:
                continue
            method = target.attr == "requires_grad_"
            what = ast.unparse(target.value)
            value = ast.unparse(node.value)
            yield Proof(
                where=file.site(node),
                message="this overwrites the method requires_grad_ instead of calling it: nothing is frozen"
                if method
                else f"{target.attr} is not requires_grad: this makes a new attribute and freezes nothing",
                label="a method is called, not assigned" if method else f"did you mean {_RIGHT}?",
                evidence={"attribute": target.attr},
                edit=edits.replace(
                    (file, node), f"{what}.requires_grad_({value})" if method else f"{what}.{_RIGHT} = {value}"
                ),
                fix=f"{what}.requires_grad_({value})" if method else f"{what}.{_RIGHT} = {value}",
            )


def _is_own(file: SourceFile, target: ast.Attribute, node: ast.AST) -> bool:
    """`self._requires_grad = False`: a private note of a module, as speech models keep; nobody mistypes that."""
    return target.attr.startswith("_") and not _in_a_loop(file, node)


def _is_bool(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int))


def _no_assignment(file: SourceFile) -> Iterator[Proof]:
    """`p.requires_grad == False` and `p.requires_grad_` as statements do nothing."""
    for node in file.walk(ast.Expr):
        value = node.value
        compared = (
            isinstance(value, ast.Compare) and isinstance(value.left, ast.Attribute) and value.left.attr == _RIGHT
        )
        named = isinstance(value, ast.Attribute) and value.attr in ("requires_grad_", _RIGHT)
        if not compared and not named:
            continue
        yield Proof(
            where=file.site(node),
            message="this statement does nothing: "
            + ("== compares, it does not assign" if compared else "the method is not called"),
            label="a comparison whose result is unused" if compared else "without parentheses",
            evidence={"statement": ast.unparse(node)},
            edit=edits.replace((file, node), ast.unparse(node).replace("==", "=")) if compared else None,
            fix=ast.unparse(node).replace("==", "=") if compared else f"{ast.unparse(value)}(False)",
        )


def _on_modules(run: Evidence, file: SourceFile) -> Iterator[Proof]:
    marked = {
        path.rpartition(".")[2]: part.type
        for model in run.models.present
        for path, part in model.module.named_modules()
        if _RIGHT in part.attributes
    }
    for node in file.walk(ast.Assign) if marked else ():
        target = node.targets[0]
        if not isinstance(target, ast.Attribute) or target.attr != _RIGHT or not _is_bool(node.value):
            continue
        name = ast.unparse(target.value).rpartition(".")[2].rstrip("]0123456789[")
        if name in marked or ("" in marked and isinstance(target.value, ast.Name) and not _in_a_loop(file, node)):
            yield Proof(
                where=file.site(node),
                message=f"{ast.unparse(target.value)} is a module: setting requires_grad on it does nothing",
                label="only parameters have requires_grad",
                evidence={"module": ast.unparse(target.value)},
                edit=edits.replace(
                    (file, node), f"{ast.unparse(target.value)}.requires_grad_({ast.unparse(node.value)})"
                ),
                fix=f"{ast.unparse(target.value)}.requires_grad_({ast.unparse(node.value)})",
            )


def _in_a_loop(file: SourceFile, node: ast.AST) -> bool:
    loop = file.enclosing(node, ast.For)
    return loop is not None and "parameters" in ast.unparse(loop.iter)
