from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.records.step import Site

_STEPS = 12
_CUTS = {"item", "detach", "cpu_detach", "tolist", "numpy", "float", "clone_detached"}


@rule("mem.graph-list", severity="warning", follows=("mem.loss-graph-kept",))
def graph_list(run: Evidence) -> Iterator[Proof]:
    """Losses or outputs are collected with their graphs, which are then never freed.

    Why it matters: a list of tensors that require gradients keeps the graph (and often the activations) of every step.

    What to do: collect `loss.item()` or `output.detach().cpu()`.

    How it is found: the number of tensors from earlier steps that are still alive with their graph grows by one with
    every step, for a dozen steps and more; or the graphs of a dozen earlier steps are all still alive.

    Bad:
        losses.append(loss)
    Good:
        losses.append(loss.item())
    """
    alive = run.retained_graphs.alive
    most = _grown(alive)
    if len(alive) < _STEPS + 2 or (most < _STEPS and not _STEPS <= alive[-1] >= run.retained_graphs.looked):
        return
    most = max(most, alive[-1])
    where = _collecting(run)
    backward = next((b for b in reversed(run.steps.backwards) if b.place is not None), None)
    yield Proof(
        where=where or (None if backward is None else backward.place),
        message=f"the graphs of {most} earlier steps are kept alive",
        label="one more with every step",
        evidence={"graphs_alive": alive[-8:], "most": most},
        edit=tensors.collected(where, ".detach()") if where is not None else None,
        fix="store loss.item() or output.detach() instead of the tensor itself",
    )


def _grown(alive: Sequence[int]) -> int:
    """To how many they came by one more with every step, for at least a dozen steps."""
    most = run = 0
    for before, after in pairwise(alive):
        run = run + 1 if after - before == 1 else 0
        if run >= _STEPS - 1:
            most = max(most, after)
    return most


def _collecting(run: Evidence) -> Site | None:
    """The `append` in the training loop that takes a tensor as it is."""
    backward = next((b for b in reversed(run.steps.backwards) if b.place is not None), None)
    if backward is None or backward.place is None:
        return None
    here = backward.place.site
    file = run.source.file(here.file)
    files = [file] if file is not None else []
    for one in (*files, *(other for other in run.source.files() if other is not file)):
        found = [call for call in one.calls("append", "extend") if _takes_a_tensor(one, call)]
        found.sort(key=lambda call: abs(call.lineno - here.line))
        if found:
            return one.site(found[0])
    return None


def _takes_a_tensor(file: SourceFile, call: ast.Call) -> bool:
    if not call.args or file.enclosing(call, ast.For, ast.While, ast.FunctionDef) is None:
        return False
    argument = call.args[0]
    if isinstance(argument, ast.Constant):
        return False
    return not any(called_name(node) in _CUTS for node in ast.walk(argument))
