from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.crash.value_origin import origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_TRIED = re.compile(r"[Tt]ried to step (\d+) times\. The specified number of total steps is (\d+)")


@rule("opt.scheduler-past-end", severity="error", needs="crash")
def scheduler_past_end(run: Evidence) -> Iterator[Proof]:
    """A scheduler was made for fewer steps than the training takes.

    Why it matters: `OneCycleLR` knows its whole schedule beforehand and refuses to go past its end.

    What to do: count as it is stepped: `total_steps=epochs * len(loader)` when `step()` is called for each batch, the
    number of epochs when it is called once per epoch; with gradient accumulation, the number of updates.

    Bad:
        scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs)      # stepped every batch
    Good:
        scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * len(loader))
    """
    crash = run.crash
    told = None if crash is None else _TRIED.search(crash.text)
    if crash is None or told is None or crash.last is None:
        return
    node = crash.last.running
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    made = None if owner is None else origin_of(crash, crash.last, owner)
    where = crash.site if made is None or made.binding is None else made.site
    yield Proof(
        where=where,
        message=f"the scheduler was made for {told[2]} steps, and this is step {told[1]}",
        label=f"{told[2]} steps",
        evidence={"total_steps": int(told[2]), "stepped": int(told[1])},
        fix="make total_steps the number of times step() is called: epochs * len(loader) if once per batch",
        related=[(crash.site, "stepped once too often here")] if where is not crash.site else [],
    )
