from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.evidence.modules import Module


@rule("model.shared-by-multiply", severity="error", needs="steps, end, crash")
def shared_by_multiply(run: Evidence) -> Iterator[Proof]:
    """`[Block()] * n` makes one block and repeats it: all n layers share the same weights.

    Why it matters: the model looks n layers deep and has the parameters of one.

    What to do: make a new one each time: `[Block() for _ in range(n)]`.

    How it is found: the source multiplies a list with a freshly made layer in it (or repeats one made before it in a
    comprehension), and in the model that runs the very same layer, with parameters, is in a container several
    times, made there. Sharing that says so (a name or a comment with "shared", "tied", "same") is let pass.

    Bad:
        self.blocks = nn.Sequential(*[Block(64)] * 6)
    Good:
        self.blocks = nn.Sequential(*[Block(64) for _ in range(6)])
    """
    repeated = list(_repeated(run))
    if not repeated:
        yield from _in_a_list(run)
        return
    for file in run.source.files():
        for node, made in _repetitions(file):
            twice = next((found for found in repeated if _is_made_by(file, found[1], node, made)), None)
            if twice is not None and not _on_purpose(file, node):
                container, layer, times = twice
                yield Proof(
                    where=file.site(node),
                    message=f"this repeats one {layer.type} {times} times: all {times} layers of the "
                    f"{container.type} are the same one, with the same weights",
                    label=f"one layer, {times} times",
                    evidence={"layer": layer.type, "times": times},
                    edit=layers.each_made((file, node)),
                    fix=f"make a new one each time: [{ast.unparse(made)} for _ in range({times})]",
                    severity=None if isinstance(made, ast.Call) else "warning",
                )


def _in_a_list(run: Evidence) -> Iterator[Proof]:
    """`members = [make_net()] * 5`: a plain list that holds one model many times."""
    trained = [(model.module, at) for model in run.models.present if (at := model.module.made) is not None]
    for file in run.source.files():
        for node, made in _repetitions(file):
            if not isinstance(made, ast.Call) or not isinstance(node, ast.BinOp) or _on_purpose(file, node):
                continue
            makers = [one for one in file.walk(ast.FunctionDef) if getattr(one, "name", "") == called_name(made)]
            spans = [_lines(one) for one in (made, *makers)]
            found = [
                model for model, at in trained if at.file == file.path and any(at.line in lines for lines in spans)
            ]
            if len(found) == 1 and any(True for _ in found[0].parameters()):
                yield Proof(
                    where=file.site(node),
                    message=f"this list holds one {found[0].type} several times, not several: they share all weights",
                    label="made once, repeated by *",
                    evidence={"layer": found[0].type},
                    edit=layers.each_made((file, node)),
                    fix=f"make a new one each time: [{ast.unparse(made)} for _ in range(...)]",
                )


def _lines(node: Any) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


_CONTAINERS = ("ModuleList", "Sequential", "ModuleDict")


def _repeated(run: Evidence) -> Iterator[tuple[Module, Module, int]]:
    """(container, layer, how often) of layers with parameters that fill a container alone, more than once."""
    for model in run.models.present:
        for part in model.module.modules():
            children = {id(child): child for child in part.children.values()}
            if len(children) == len(part.children) or not part.is_a(*_CONTAINERS):
                continue
            counts = Counter(map(id, part.children.values()))
            for key, child in children.items():
                if counts[key] > 1 and any(True for _ in child.parameters()):
                    yield part, child, counts[key]


def _repetitions(file: SourceFile) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(expression, what it repeats): `[x()] * n`, `n * [x()]`, `[x for _ in range(n)]`, `repeat(x(), n)`."""
    for node in file.walk(ast.BinOp, ast.ListComp, ast.GeneratorExp, ast.Call):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for side in (node.left, node.right):
                if isinstance(side, (ast.List, ast.Tuple)):
                    yield from ((node, item) for item in side.elts if isinstance(item, (ast.Call, ast.Name)))
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and isinstance(node.elt, ast.Name):
            loops = {name.id for g in node.generators for name in ast.walk(g.target) if isinstance(name, ast.Name)}
            if node.elt.id not in loops:
                yield node, node.elt
        elif isinstance(node, ast.Call) and called_name(node) == "repeat" and len(node.args) == 2:
            yield from ((node, item) for item in node.args[:1] if isinstance(item, ast.Call))


def _is_made_by(file: SourceFile, layer: Module, node: ast.expr, made: ast.expr) -> bool:
    """Whether this layer was made by this expression, or by the assignment of the name that it repeats."""
    site = layer.made
    if site is None or site.file != file.path:
        return False
    if isinstance(made, ast.Call):
        return bool(made.lineno <= site.line <= (made.end_lineno or made.lineno))
    scope = file.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or file.tree
    return any(
        isinstance(statement, ast.Assign)
        and isinstance(made, ast.Name)
        and any(isinstance(target, ast.Name) and target.id == made.id for target in statement.targets)
        and statement.lineno <= site.line <= (statement.end_lineno or statement.lineno)
        for statement in ast.walk(scope)
    )


_SHARED = re.compile(r"shar|tied|tie_|same|recur|univers|albert|unroll|reus", re.I)


def _on_purpose(file: SourceFile, node: ast.expr) -> bool:
    around = "\n".join(file.lines[max(0, node.lineno - 4) : (node.end_lineno or node.lineno) + 1])
    outer = [o.name for o in file.up(node) if isinstance(o, (ast.FunctionDef, ast.ClassDef))]
    return bool(_SHARED.search(around) or any(_SHARED.search(name) for name in outer))
