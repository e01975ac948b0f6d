from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_GRAPHS = 4
_WARM_UP = 2


@rule("compile.recompile-storm", severity="warning")
def recompile_storm(run: Evidence) -> Iterator[Proof]:
    """Compiled code is recompiled repeatedly.

    Why it matters: each new graph costs seconds; after a few torch gives up and runs eagerly, slower than without.

    What to do: keep shapes and Python numbers the same from call to call (pad, pass numbers as tensors), or use
    `torch.compile(..., dynamic=True)`.

    How it is found: dynamo's own counter of graphs keeps growing after the first steps.

    Bad:
        step = torch.compile(lambda x, i: model(x) * i)
        for i, x in enumerate(loader): step(x, i)
    Good:
        for i, x in enumerate(loader): step(x, torch.tensor(i))
    """
    graphs = run.compiling.graphs
    if len(graphs) <= _WARM_UP + 2:
        return
    later = graphs[_WARM_UP:]
    growing = sum(after > before for before, after in pairwise(later))
    if growing < _GRAPHS:
        return
    yield Proof(
        where=run.progress.compiled,
        message=f"{graphs[-1]} graphs were compiled in {len(graphs)} steps, and new ones keep coming",
        label=f"recompiled in {growing} of the steps after the first {_WARM_UP}",
        evidence={"graphs": graphs[:20]},
        fix="keep shapes and Python arguments constant from call to call, or pass dynamic=True",
    )
