from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.evidence.gradient_clips import GradientClip


@rule("opt.clip-exhausted-generator", severity="error", needs="steps, crash")
def clip_exhausted_generator(run: Evidence) -> Iterator[Proof]:
    """The parameters to clip come from a generator that is already used up.

    Why it matters: `model.parameters()` can be walked through once. After that it is empty, and nothing is clipped.

    What to do: keep a list: `params = list(model.parameters())`, or call `model.parameters()` again.

    How it is found: the clipping function was given no parameters at all, several times.

    Bad:
        params = model.parameters()
        optimizer = torch.optim.SGD(params, lr=0.1)
        clip_grad_norm_(params, 1.0)
    Good:
        params = list(model.parameters())
    """
    places: dict[object, list[GradientClip]] = {}
    for clip in run.gradient_clips.all:
        places.setdefault(clip.place, []).append(clip)
    for clips in places.values():
        none = [clip for clip in clips if not clip.parameters]
        if len(none) < (1 if run.crash is not None else 2) or len(none) < len(clips) - 1 or not run.optimizers.made:
            continue
        made = _made(run, none[-1])
        yield Proof(
            where=made or none[-1].place,
            message="the parameters given to the clipping function are used up: it clips nothing",
            label="a generator, which can be iterated only once" if made else "no parameters arrive here",
            evidence={"calls": len(clips), "without_parameters": len(none)},
            edit=edits.replace(made, _listed) if made else None,
            fix="make it a list: list(model.parameters())",
            related=[(none[-1].place, "no parameters arrive here")] if made else (),
        )


def _made(run: Evidence, clip: GradientClip) -> Any:
    """The assignment of the name that is handed over."""
    call = run.source.call(clip.place)
    file = None if clip.place is None else run.source.file(clip.place.file)
    if call is None or file is None or not call.args:
        return None
    name = ast.unparse(call.args[0])
    found = [node for node in file.walk(ast.Assign) if any(ast.unparse(target) == name for target in node.targets)]
    before = [node for node in found if node.lineno <= call.lineno] or found
    return file.site(max(before, key=lambda node: node.lineno)) if before else None


def _listed(file: SourceFile, node: Any) -> str | None:
    """The assignment with a list on its right."""
    if not isinstance(node, ast.Assign):
        return None
    left = " = ".join(ast.unparse(target) for target in node.targets)
    return f"{left} = list({edits.text_of(file, node.value)})"
