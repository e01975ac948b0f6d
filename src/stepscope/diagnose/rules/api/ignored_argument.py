from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.evidence.ignored_arguments import IgnoredArgument, IgnoredArguments

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BUILDS = ("append", "extend", "add", "to", "cuda", "size", "clone", "detach")
_DATA = ("tensor", "array", "numbers")
_PLAIN_BASES = ("Module", "object", "LightningModule", "Dataset")


@rule(
    "api.ignored-argument",
    severity="warning",
    needs="end",
    follows=("rl.*", "autograd.wrong-backward", "model.causal-mask", "math.*", "data.unused-transform", "dist.*"),
)
def ignored_argument(run: Evidence) -> Iterator[Proof]:
    """A function is given a mask, lengths, weights or a loader, and its code never reads it.

    Why it matters: no error is raised, and the training goes on as if the mask were not there: padding is read as if
    it were data, the episode never ends, the loss is not weighted, or the evaluation runs on the training data.

    What to do: use the argument, or remove it from the function and from its calls.

    How it is found: a function of the script ran while it trained and had a tensor (or an array, or a list of numbers)
    as an argument that no line of it reads, and nothing else reads what was passed. Or it was given a model, a loader
    or an optimizer and works with another one from outside the function. Functions that torch calls, and methods of
    one interface of which others read the argument, are left out.

    Bad:
        def forward(self, tokens, lengths):
            states, _ = self.gru(self.embed(tokens))
            return self.out(states[:, -1])
    Good:
        def forward(self, tokens, lengths):
            states, _ = self.gru(self.embed(tokens))
            return self.out(states[torch.arange(len(tokens)), lengths - 1])
    """
    for one in run[IgnoredArguments].all:
        file = run.source.file(one.function.file)
        function = None if file is None else _function(file, one)
        if file is None or function is None or _is_interface(run, file, function, one.name):
            continue
        if not one.instead and not (one.kind in _DATA and one.others and _is_only_for_it(run, one, function)):
            continue
        title = f"`{function.name}`"
        instead = f" and works with `{one.instead}` from outside" if one.instead else ""
        yield Proof(
            where=file.site(_argument(function, one.name)),
            message=f"{title} is given `{one.name}` and never reads it{instead}",
            label="no line of the function uses it" if not instead else f"`{one.instead}` is another {one.kind}",
            evidence={"kind": one.kind, "shape": list(one.shape), "instead": one.instead or None},
            fix=f"use `{one.name}` instead of `{one.instead}`" if instead else f"use `{one.name}`, or do not pass it",
            related=[(one.caller, "it is passed here")],
        )


def _function(file: SourceFile, one: IgnoredArgument) -> Any:
    """The function, if its own text reads the argument nowhere either."""
    for node in file.walk(*_FUNCTIONS):
        first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
        if node.name == one.function.name and first == one.function.first_line:
            read = any(_reads(inner, one.name) for part in node.body for inner in ast.walk(part))
            return None if read else node
    return None


def _reads(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("locals", "vars"):
        return True
    return isinstance(node, ast.Name) and node.id == name


def _names(function: Any) -> list[str]:
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _argument(function: Any, name: str) -> ast.AST:
    given = function.args
    found: ast.arg = next(one for one in (*given.posonlyargs, *given.args, *given.kwonlyargs) if one.arg == name)
    return found


def _is_interface(run: Evidence, file: SourceFile, function: Any, name: str) -> bool:
    """Another function of the same name and arguments reads it: one caller has several of them."""
    mine = file.enclosing(function, ast.ClassDef)
    if mine is not None and function.name == "forward" and not _bases(mine):
        return False
    for other in run.source.files():
        for node in other.walk(*_FUNCTIONS):
            if node is not function and node.name == function.name and name in _names(node):
                return True
    return False


def _bases(owner: ast.ClassDef) -> list[str]:
    """The classes that a class inherits from, other than those every module or dataset does."""
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "?") for base in owner.bases]
    return [name for name in names if name not in _PLAIN_BASES]


def _is_only_for_it(run: Evidence, one: IgnoredArgument, function: Any) -> bool:
    """Whether what is passed is read for nothing but this call."""
    file = run.source.file(one.caller.file)
    call = run.source.call(one.caller)
    if file is None or call is None:
        return False
    if function.name != "forward" and called_name(call) != function.name:
        return False  # a variable that may hold one of several functions
    scope = file.enclosing(call, *_FUNCTIONS, ast.Module)
    if isinstance(call.func, ast.Name) and not isinstance(scope, ast.Module) and call.func.id in _names(scope):
        return False  # an argument of the caller, which may be given several
    passed = _passed(call, function, one.name)
    if passed is None or isinstance(passed, ast.Constant):
        return False
    wanted = _text(passed)
    callee = _text(call.func)
    for node in ast.walk(scope):
        is_read = isinstance(node, type(passed)) and not isinstance(getattr(node, "ctx", None), ast.Store)
        if is_read and _text(node) == wanted and not _is_for(file, node, callee, wanted):
            return False
    return True


def _passed(call: ast.Call, function: Any, name: str) -> ast.expr | None:
    for word in call.keywords:
        if word.arg == name:
            return word.value
    names = _names(function)
    at = names.index(name) - (names[:1] in (["self"], ["cls"]))
    if at >= len(call.args) or any(isinstance(given, ast.Starred) for given in call.args[: at + 1]):
        return None
    return call.args[at]


def _is_for(file: SourceFile, node: ast.AST, callee: str, wanted: str) -> bool:
    """Whether this reading only passes the value to the same function, or builds it."""
    outer = file.parents.get(node)
    if isinstance(outer, ast.keyword):
        outer = file.parents.get(outer)
    if isinstance(outer, ast.Call) and _text(outer.func) == callee and node is not outer.func:
        return True
    if isinstance(outer, ast.Attribute) and outer.attr in _BUILDS:
        statement = file.enclosing(outer, ast.stmt)
        if isinstance(statement, ast.Expr):
            return True
        return isinstance(statement, ast.Assign) and any(_text(target) == wanted for target in statement.targets)
    return False


def _text(node: ast.AST) -> str:
    return ast.unparse(node)
