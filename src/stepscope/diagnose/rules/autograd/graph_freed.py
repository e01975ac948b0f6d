from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import parents_of, said, statement_at
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import several
from stepscope.diagnose.crash.hidden_state import carried_graph
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SAID = {
    "carried": "`{name}` carries the graph of the previous step into this one",
    "attribute": "`{name}` keeps the graph of the previous step",
    "outside": "`{name}` is computed once, outside the loop, and its graph is gone after the first backward",
    "shared": "both losses are computed from `{name}`, whose graph the first backward has freed",
    "both": "both losses are computed from `{name}`, whose graph the first backward has freed",
    "again": "backward runs a second time through the graph that `{name}` has freed",
}
_FIX = {
    "carried": "detach it between steps: {name} = {name}.detach() (each part of it, for a tuple)",
    "attribute": "store it detached: {name} = ....detach()",
    "outside": "compute `{name}` inside the loop",
    "shared": "give the first loss `{name}.detach()`, or add the losses and call backward once",
    "both": "add the losses and call backward once, or pass retain_graph=True to the first backward",
    "again": "add the losses and call backward once, or pass retain_graph=True to the first call",
}


@rule("autograd.graph-freed", severity="error", needs="crash", follows=("opt.stepped-twice",))
def graph_freed(run: Evidence) -> Iterator[Proof]:
    """Backward runs into the graph of an earlier step, which has been freed.

    Why it matters: a hidden state (or a loss that is summed up) still hangs on the operations of the step before. After
    that step's backward they are gone.

    What to do: detach what is carried from step to step.

    Bad:
        for x in batches:
            out, h = rnn(x, h)
            loss(out).backward()
    Good:
        for x in batches:
            h = h.detach()
            out, h = rnn(x, h)
            loss(out).backward()
    """
    crash = run.crash
    if crash is None or not crash.says(r"backward through the graph a second time"):
        return
    found = carried_graph(crash)
    if found is None:
        yield Proof(
            where=crash.site,
            message="backward runs a second time through a graph that was freed by the first",
            fix="detach what is carried from one step to the next",
        )
        return
    kind = "both" if found.kind == "shared" and not _steps_between(crash) else found.kind
    yield Proof(
        where=found.site,
        message=_SAID[kind].format(name=found.name),
        label=f"the graph of {found.name} is freed with this loss"
        if kind in ("shared", "both")
        else f"{found.name} is still part of an old graph",
        evidence={"tensor": found.name, "how": kind},
        edit=tensors.name_replaced(found.site, found.name, _cut_loose(crash, found.name))
        if kind in ("carried", "shared")
        else None,
        fix=_FIX[kind].format(name=found.name),
        related=[(crash.site, "backward fails here")],
    )


def _steps_between(crash: Crash) -> bool:
    """Whether an optimizer steps between the two calls of backward, as in a GAN: there the first loss is detached."""
    site = crash.site
    statement = None if site is None else statement_at(site.file, site.line)
    holder = None if site is None or statement is None else parents_of(site.file).get(statement)
    body = [one for one in getattr(holder, "body", []) if site is not None and one.lineno < site.line]
    calls = [said(one.value.func) for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    last = max((index for index, name in enumerate(calls) if name.endswith(".backward")), default=len(calls))
    return last == len(calls) or any(name.endswith(".step") for name in calls[last:])


def _cut_loose(crash: Crash, name: str) -> str:
    """The state of an LSTM is a tuple: each part of it is detached."""
    held = next((held for other, held, _ in crash.values() if other == name), None)
    return f"{name}.detach()" if several(held) is None else f"tuple(part.detach() for part in {name})"
