from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted

_UNORDERED = {"set", "frozenset", "listdir", "glob", "iglob", "rglob", "iterdir", "scandir"}
_FILES = _UNORDERED - {"set", "frozenset"}
_NUMBERING = {"enumerate", "zip"}


@rule("repro.set-order", severity="warning", needs="source")
def set_order(run: Evidence) -> Iterator[Proof]:
    """Class numbers are given in the order of a set or a directory, which differs from run to run.

    Why it matters: a checkpoint of yesterday calls the cats dogs today: the numbers of the classes have changed.

    What to do: sort before numbering: `sorted(set(labels))`, `sorted(os.listdir(folder))`.

    How it is found: the source numbers the items (`enumerate`, `zip` with `range`, `.index`) of a set, `os.listdir`,
    `glob` or `iterdir` without sorting them.

    Bad:
        index = {name: i for i, name in enumerate(set(names))}
    Good:
        index = {name: i for i, name in enumerate(sorted(set(names)))}
    """
    for file in run.source.files():
        for call in file.calls(*_NUMBERING):
            if called_name(call) == "zip" and not any(called_name(a) in ("range", "count") for a in call.args):
                continue
            for argument in call.args:
                source = _unordered(file, argument, call)
                if source is not None and _numbers_classes(file, call):
                    what = "a set" if source in ("set", "frozenset") else f"{source}()"
                    yield Proof(
                        where=file.site(call),
                        message=f"the items of {what} are numbered in an order that is not the same in every run",
                        label=f"the order of {what} is arbitrary",
                        evidence={"source": source},
                        edit=edits.replace((file, argument), f"sorted({edits.text_of(file, argument)})"),
                        fix="sort them first: enumerate(sorted(...))",
                    )


def _unordered(file: SourceFile, node: ast.expr, call: ast.Call, through: frozenset[str] = frozenset()) -> str | None:
    """The unordered thing this expression is, directly or through names or `list(...)`."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return "set"
    name = called_name(node)
    if name == "list" and isinstance(node, ast.Call) and node.args:
        return _unordered(file, node.args[0], call, through)
    if name in _UNORDERED:
        return name
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _unordered(file, node.generators[0].iter, call, through)
    name = dotted(node)
    if name and name not in through:  # two names can be made of each other
        value = _last_assigned(file, name, call)
        return None if value is None else _unordered(file, value, call, through | {name})
    return None


def _last_assigned(file: SourceFile, name: str, call: ast.Call) -> ast.expr | None:
    """What a name was last set to before the call; None when it is also sorted, or set in several ways."""
    values = []
    for node in file.walk(ast.Assign):
        if any(dotted(target) == name for target in node.targets) and node.lineno <= call.lineno:
            values.append(node)
    for other in file.calls("sort"):
        if dotted(other.func) == f"{name}.sort" and other.lineno <= call.lineno:
            return None
    if not values:
        return None
    value = max(values, key=lambda node: node.lineno).value
    return None if dotted(value) == name else value


def _numbers_classes(file: SourceFile, call: ast.Call) -> bool:
    """A mapping is made (a dict, or labels from the numbers), not merely a loop with a counter to print."""
    for outer in file.up(call):
        if isinstance(outer, (ast.DictComp, ast.Dict)) or called_name(outer) == "dict":
            return True
        if isinstance(outer, ast.For):
            return _uses_number(outer)
        if isinstance(outer, (ast.ListComp, ast.GeneratorExp)):
            return True
        if isinstance(outer, ast.stmt):
            return False
    return False


def _uses_number(loop: ast.For) -> bool:
    """The counter of the loop is stored: in a subscript assignment or an append."""
    target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else None
    if not isinstance(target, ast.Name):
        return False
    for node in ast.walk(loop):
        stored = None
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Subscript) for t in node.targets):
            stored = node.value
        elif called_name(node) in ("append", "extend") and isinstance(node, ast.Call):
            stored = ast.Tuple(elts=list(node.args), ctx=ast.Load())
        if stored is not None and any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(stored)):
            return True
    return False
