from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.evidence.checkpoints import FileRead, Loading
from stepscope.evidence.optimizers import Made


@rule("io.optimizer-not-restored", severity="warning", needs="steps, end")
def optimizer_not_restored(run: Evidence) -> Iterator[Proof]:
    """A training is resumed from a checkpoint, but its optimizer starts with no state.

    Why it matters: Adam's moments and SGD's momentum are gone, so the first steps are too large or point elsewhere: the
    loss jumps after every resume.

    What to do: save `optimizer.state_dict()` in the checkpoint and give it to the new optimizer.

    How it is found: the weights of a file were loaded, the number of its epoch or step was read from it, training went
    on with an optimizer that keeps a state (Adam, momentum), fresh, and nothing was loaded into it. Starting over from
    pretrained weights reads no epoch and is let pass.

    Bad:
        model.load_state_dict(ckpt["model"])
        start = ckpt["epoch"] + 1
    Good:
        model.load_state_dict(ckpt["model"])
        optimizer.load_state_dict(ckpt["optimizer"])
        start = ckpt["epoch"] + 1
    """
    for loading in run.checkpoints.loadings:
        read = loading.file
        if read is None or not _is_resume(run, read):
            continue
        fresh = [made for made in run.optimizers.made if _trains_on(run, made, loading)]
        if not fresh:
            continue
        saved = f"{read.optimizers} optimizer state in the file" if read.optimizers else "the file holds none"
        yield Proof(
            where=loading.place,
            message=f"training resumes from a checkpoint, but {fresh[0].type} starts fresh: its state is not "
            + ("loaded" if read.optimizers else "in the checkpoint"),
            label=f"weights are restored, the optimizer is not ({saved})",
            evidence={"keys": read.keys[:12], "optimizer": fresh[0].type, "file": read.path[:200]},
            fix="optimizer.load_state_dict(checkpoint[...]) after this line"
            if read.optimizers
            else "save optimizer.state_dict() in the checkpoint too, and load it after this line",
            related=[(fresh[0].place, "this optimizer is new")],
        )


_COUNTERS = re.compile(r"epoch|step|iter", re.I)


def _is_resume(run: Evidence, read: FileRead) -> bool:
    """Whether the script reads from the file how far the training had come."""
    counters = {key for key in read.keys if _COUNTERS.search(key)}
    if not counters:
        return False
    for file in run.source.files():
        for node in file.walk(ast.Subscript, ast.Call):
            if _reads_key(node) in counters and _goes_on(file, node):
                return True
    return False


def _reads_key(node: ast.Subscript | ast.Call) -> object:
    """The key that `checkpoint["epoch"]` or `checkpoint.get("epoch", 0)` reads."""
    if isinstance(node, ast.Subscript):
        constant = node.slice if isinstance(node.ctx, ast.Load) else None
    else:
        gets = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop")
        constant = node.args[0] if gets and node.args else None
    return constant.value if isinstance(constant, ast.Constant) else None


def _goes_on(file: SourceFile, node: ast.expr) -> bool:
    """Whether the number is kept, handed on or counted from; not when it is only printed."""
    for outer in file.up(node):
        if isinstance(outer, (ast.JoinedStr, ast.FormattedValue)) or called_name(outer) in ("print", "info", "write"):
            return False
        if isinstance(outer, ast.stmt):
            return True
    return False


def _trains_on(run: Evidence, made: Made, loading: Loading) -> bool:
    """Whether this optimizer keeps a state, had taken no step when the weights came, took some after, and got none."""
    keeps = made.type != "SGD" or bool(made.defaults.get("momentum"))
    steps = run.steps.of_optimizer(made.number)
    mine = {id(p) for p in loading.module.parameters()}
    # No new head beside it, and no part that a second stage freezes: a saved state would not fit either.
    holds = bool(made.parameters) and {id(p) for p in made.parameters} == mine
    return (
        keeps
        and holds
        and len(steps) >= 2
        and all(step.index >= loading.step for step in steps)
        and not any(number == made.number for number, _ in run.checkpoints.optimizer_loads)
    )
