from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from stepscope.diagnose.crash.bindings import scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.module_circle import Circle, module_circle
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_MANY = 10


@rule("api.endless-recursion", severity="error", needs="crash")
def endless_recursion(run: Evidence) -> Iterator[Proof]:
    """A function calls itself endlessly.

    Why it matters: Python stops after about a thousand calls; in a model the wrong sizes may stop it earlier.

    What to do: call the layer, not the method that is running (`self.fc(x)`, not `self.forward(x)`); a property or
    `__len__` must read the stored value, not itself.

    Bad:
        def forward(self, x):
            return self.forward(self.fc(x))
    Good:
        def forward(self, x):
            return self.fc(x)
    """
    crash = run.crash
    if crash is None or not crash.own:
        return
    if not crash.is_a("RecursionError"):
        yield from _stopped_early(crash)
        return
    circle = module_circle(crash)
    if circle is not None:
        yield _circle(crash, circle)
        return
    lines = Counter((frame.file, frame.line) for frame in crash.own)
    (file, line), count = lines.most_common(1)[0]
    if count < _MANY:
        return
    frame = next(one for one in crash.own if (one.file, one.line) == (file, line))
    if frame.function in ("__getattr__", "__getattribute__"):
        yield _own_attribute(crash, frame)
        return
    round_ = [one for one in crash.own if lines[(one.file, one.line)] >= count // 2]
    names = list(dict.fromkeys(one.function for one in round_))
    way = (
        f"`{names[0]}` calls itself"
        if len(names) == 1
        else f"{' and '.join(f'`{one}`' for one in names[:3])} call each other"
    )
    yield Proof(
        where=frame.site,
        message=f"{way} without end",
        label="this call leads back to itself",
        evidence={"functions": names[:4], "times": count},
        fix="end the recursion on a condition, or call the intended function instead of itself",
    )


def _circle(crash: Crash, circle: Circle) -> Proof:
    inner, outer, name = circle.inner, circle.outer, circle.name
    return Proof(
        where=circle.site or crash.site,
        message=f"{inner} holds the {outer} that holds it, as the layer `{name}`: PyTorch walks through the layers "
        "without end",
        label=f"`self.{name}` becomes a layer of {inner}",
        evidence={"class": inner, "attribute": name, "holder": outer},
        fix=f"hand {inner} only what it needs of the {outer}; or hide it from PyTorch in a tuple, self.{name} = "
        f"({circle.given},), and use self.{name}[0]",
        related=[(crash.site, "the layers are walked through here")] if circle.site is not None else [],
    )


def _own_attribute(crash: Crash, frame: Frame) -> Proof:
    """A `__getattr__` that reads an attribute of its own, which is not there (yet), so Python asks it again."""
    scope = scope_of(frame)
    read = [one for one in ast.walk(frame.running or ast.Pass()) if _is_own(one)]
    read = read or [one for one in ast.walk(scope or ast.Pass()) if _is_own(one) and one.lineno == frame.line]  # type: ignore[attr-defined]
    text = ast.unparse(read[0]) if read else "an attribute of self"
    asked = read[0].attr if read and isinstance(read[0], ast.Attribute) else ""
    name = frame.arguments[1] if len(frame.arguments) > 1 else "name"
    if frame.module is not None:
        why = "PyTorch keeps layers in a table of the module, which only its own `__getattr__` reads"
        fix = (
            f"ask the module first: try: return super().{frame.function}({name}), and on AttributeError look elsewhere"
        )
    else:
        why = f"while the object is copied or unpickled `{text}` is not there yet"
        fix = f'refuse its own name first: if {name} == "{asked}": raise AttributeError({name})'
    return Proof(
        where=frame.site,
        message=f"`{frame.function}` reads `{text}`, which the object itself lacks, so Python calls it again: {why}",
        label="this asks __getattr__ again",
        evidence={"functions": [frame.function], "attribute": asked},
        fix=fix,
        related=[(crash.own[0].site, "it begins here")] if crash.own[0].function != frame.function else [],
    )


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self" and not node.attr.startswith("__")


def _stopped_early(crash: Crash) -> Iterator[Proof]:
    """`forward` calls itself whatever comes, and something did not fit in the second round."""
    frame = crash.last
    if frame is None or frame.function != "forward" or sum(one.function == "forward" for one in crash.own) < 2:
        return
    again = [one for one in crash.own[:-1] if one.module is frame.module and isinstance(one.running, ast.Call)]
    calls = [one for one in again if ast.unparse(one.running.func) == "self.forward"]  # type: ignore[union-attr]
    scope = scope_of(frame)
    if not calls or scope is None or any(isinstance(node, (ast.If, ast.IfExp)) for node in ast.walk(scope)):
        return
    yield Proof(
        where=calls[-1].site,
        message="`forward` calls itself without end",
        label="this call leads back to itself",
        evidence={"functions": ["forward"]},
        fix="call the intended layer instead of self.forward",
        related=[(crash.site, "in the second round it fails here")],
    )
