"""Code that keeps the best value so far: which way it looks, which way its names say it should, what it saves when."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.diagnose.monitored_names import better_when
from stepscope.diagnose.source import SourceFile, called_name

_UP, _DOWN = (ast.Gt, ast.GtE), (ast.Lt, ast.LtE)
_TURNED = {ast.Gt: "<", ast.GtE: "<=", ast.Lt: ">", ast.LtE: ">="}


@dataclass(frozen=True)
class Best:
    """`if value < best: best = value`, in whatever form."""

    file: SourceFile
    branch: ast.If
    test: ast.Compare
    name: str
    """What the best value is called."""
    what: str
    """What the value is called, as far back as it can be followed."""
    direction: str
    """min or max: what is taken as the best."""
    wanted: str | None
    """min or max: what the names (or the value it starts from) say; None where they do not tell."""
    body: tuple[ast.stmt, ...]
    """The branch that has found a better value."""

    @property
    def turned(self) -> str:
        operator = _TURNED[type(self.test.ops[0])]
        return f"{ast.unparse(self.test.left)} {operator} {ast.unparse(self.test.comparators[0])}"


def best_trackers(file: SourceFile, files: list[SourceFile]) -> list[Best]:
    found = []
    for branch in file.walk(ast.If):
        for test in _comparisons(_resolved(file, branch)):
            for body, other in ((branch.body, False), (branch.orelse, True)):
                best = _tracker(file, files, branch, test, body, other)
                if best is not None:
                    found.append(best)
    return found


def _resolved(file: SourceFile, branch: ast.If) -> ast.expr:
    """`is_best = loss < best` before `if is_best:`."""
    if not isinstance(branch.test, ast.Name):
        return branch.test
    scope = file.enclosing(branch, ast.FunctionDef, ast.AsyncFunctionDef) or file.tree
    name = branch.test.id
    for node in ast.walk(scope):
        if not isinstance(node, ast.Assign) or node.lineno >= branch.lineno:
            continue
        if any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return node.value
    return branch.test


def _comparisons(test: ast.expr) -> list[ast.Compare]:
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    return [part for part in parts if isinstance(part, ast.Compare) and len(part.ops) == 1]


def _tracker(
    file: SourceFile, files: list[SourceFile], branch: ast.If, test: ast.Compare, body: list[ast.stmt], other: bool
) -> Best | None:
    left, right = test.left, test.comparators[0]
    operator = type(test.ops[0])
    if operator not in _TURNED:
        return None
    for value, kept, flipped in ((left, right, False), (right, left, True)):
        name = _name(kept)
        if not name or isinstance(value, ast.Constant) or not _assigns(body, name, value):
            continue  # `if size > 1024: size = 1024` keeps a number within a bound
        up = (operator in _UP) ^ flipped ^ other
        if "best" not in name.lower() and not any(
            w in name.lower() for w in ("min", "lowest", "max", "highest", "top")
        ):
            return None
        if any(word in name.lower() for word in ("worst", "max_loss", "largest")):
            return None
        what, sign = _trace(file, files, branch, value)
        by_name = better_when(what) or better_when(name)
        if by_name is not None and sign < 0:
            by_name = "max" if by_name == "min" else "min"
        start = _from_start(file, name)
        if not what or ("best" not in name.lower() and start is None and by_name is None):
            continue  # `if max_length > limit: max_length = limit`: nothing says that a result is kept
        wanted = _named(name) or _agreed(what, name, sign) or start or by_name
        return Best(file, branch, test, name, what, "max" if up else "min", wanted, tuple(body))
    return None


def _agreed(what: str, name: str, sign: int) -> str | None:
    """Both names say it: `acc` and `best_acc`. Then an infinity on the other side is part of the mistake."""
    one, other = better_when(what), better_when(name)
    return one if one == other and sign > 0 else None


def _named(name: str) -> str | None:
    """`max_error` is to be the largest, `min_val_loss` the smallest, whatever they hold."""
    words = set(re.split(r"[\W_]+", name.lower()))
    up, down = bool(words & {"max", "maximum", "highest"}), bool(words & {"min", "minimum", "lowest"})
    return None if up == down else "max" if up else "min"


def _name(node: ast.expr) -> str:
    """`best`, `self.best`, or the `best` of `best - delta`."""
    if isinstance(node, ast.BinOp):
        return _name(node.left)
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""


def _assigns(body: list[ast.stmt], name: str, value: ast.expr) -> bool:
    text = ast.unparse(value)
    for statement in body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Assign):
                continue
            pairs = _pairs(node)
            if any(ast.unparse(target) == name and ast.unparse(given) == text for target, given in pairs):
                return True
    return False


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _trace(file: SourceFile, files: list[SourceFile], branch: ast.If, value: ast.expr) -> tuple[str, int]:
    """What a value is called where it comes from, and -1 where its sign was turned on the way."""
    sign = 1
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return _trace(file, files, branch, value.operand)[0], -1
    name = _name(value) or (called_name(value) if isinstance(value, ast.Call) else "")
    if better_when(name) is not None or not isinstance(value, ast.Name):
        return name, sign
    function = file.enclosing(branch, ast.FunctionDef, ast.AsyncFunctionDef)
    scope = function if function is not None else file.tree
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and any(ast.unparse(t) == name for t in node.targets):
            given = node.value
            if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub):
                return _name(given.operand) or name, -1
            found = _name(given) or called_name(given)
            if better_when(found) is not None:
                return found, sign
    if function is not None:
        return _handed_over(file, files, function, name) or name, sign
    return name, sign


def _handed_over(file: SourceFile, files: list[SourceFile], function: ast.AST, name: str) -> str | None:
    """What the callers of a method (of an early stopper) call the value they give it."""
    arguments = getattr(function, "args", None)
    names = [] if arguments is None else [argument.arg for argument in arguments.args]
    if name not in names:
        return None
    owner = file.enclosing(function, ast.ClassDef)
    position = names.index(name) - (1 if owner is not None else 0)
    called = getattr(function, "name", "")
    found = set()
    for other in files:
        made = _instances(other, owner.name) if owner is not None else set()
        for call in other.walk(ast.Call):
            target = ast.unparse(call.func)
            if target not in ({called} if owner is None else {f"{m}.{called}" for m in made} | _direct(made, called)):
                continue
            given = call.args[position] if len(call.args) > position else None
            given = given or next((k.value for k in call.keywords if k.arg == name), None)
            if given is not None and not isinstance(given, ast.UnaryOp):
                found.add(_name(given) or called_name(given))
    clear = {word for word in found if better_when(word) is not None}
    return clear.pop() if len(clear) == 1 else None


def _direct(made: set[str], called: str) -> set[str]:
    return made if called == "__call__" else set()


def _instances(file: SourceFile, kind: str) -> set[str]:
    """The names that instances of a class are given."""
    return {
        ast.unparse(target)
        for node in file.walk(ast.Assign)
        if called_name(node.value) == kind
        for target in node.targets
    }


def _from_start(file: SourceFile, name: str) -> str | None:
    """inf at the start: smaller is better; -inf: larger."""
    for node in file.walk(ast.Assign):
        for target, value in _pairs(node):
            if ast.unparse(target) != name:
                continue
            text = ast.unparse(value).replace(" ", "").replace('"', "'").lower()
            if text in ("float('inf')", "math.inf", "np.inf", "torch.inf", "inf", "numpy.inf", "float('infinity')"):
                return "min"
            if text in ("-float('inf')", "float('-inf')", "-math.inf", "-np.inf", "-torch.inf", "-inf", "-numpy.inf"):
                return "max"
    return None


def unbeatable_start(best: Best) -> ast.Assign | None:
    """Of a value that is better when small: the statement that starts it at 0 or below, which nothing positive beats.

    None where anything but the branch sets it too, or where the branch has another way in (`or epoch == 0`).
    """
    if best.direction != "min" or best.wanted != "min" or isinstance(best.branch.test, ast.BoolOp):
        return None
    inside = {node for statement in best.body for node in ast.walk(statement)}
    starts = [
        (node, value)
        for node in best.file.walk(ast.Assign)
        if node not in inside
        for target, value in _pairs(node)
        if ast.unparse(target) == best.name
    ]
    if len(starts) != 1:
        return None
    node, value = starts[0]
    number = value.value if isinstance(value, ast.Constant) else None
    return node if isinstance(number, (int, float)) and number <= 0 else None


def saves_outside(file: SourceFile, trackers: list[Best]) -> Iterator[tuple[Best, ast.stmt]]:
    """In a loop with such a branch: what keeps the "best" weights outside of it, and is loaded later on."""
    for best in trackers:
        loop = file.enclosing(best.branch, ast.For, ast.While)
        if loop is None:
            continue
        inside = {node for statement in best.body for node in ast.walk(statement)}
        if any(_keeps(node) for node in inside):
            continue
        for node in ast.walk(loop):
            keeps = _keeps(node)
            if keeps is None or not isinstance(node, ast.stmt) or node in inside:
                continue
            if any(isinstance(outer, ast.If) and outer is not loop for outer in _between(file, node, loop)):
                continue
            if "best" in keeps.lower() and _loaded(file, keeps, loop):
                yield best, node


def _between(file: SourceFile, node: ast.AST, loop: ast.AST) -> Iterator[ast.AST]:
    for outer in file.up(node):
        if outer is loop:
            return
        yield outer


def _keeps(node: ast.AST) -> str | None:
    """The name under which a statement keeps weights: a path, or a variable."""
    if isinstance(node, ast.Expr) and called_name(node.value) == "save" and isinstance(node.value, ast.Call):
        given = node.value.args[1:2] or [k.value for k in node.value.keywords if k.arg in ("f", "path")]
        return ast.unparse(given[0]) if given else None
    if isinstance(node, ast.Assign) and "state_dict()" in ast.unparse(node.value):
        return ast.unparse(node.targets[0])
    return None


def _loaded(file: SourceFile, keeps: str, loop: ast.AST) -> bool:
    after = getattr(loop, "end_lineno", 0) or 0
    return any(call.lineno > after and keeps in ast.unparse(call) for call in file.calls("load", "load_state_dict"))
