from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from stepscope.diagnose import edits
from stepscope.diagnose.crash.ranges import range_fault
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile


@rule("index.swapped-ids", severity="error", needs="crash")
def swapped_ids(run: Evidence) -> Iterator[Proof]:
    """Two kinds of ids were passed in each other's place.

    Why it matters: users looked up in the table of items fail when the tables differ in size, and give nonsense when
    they do not.

    What to do: pass the arguments in the order of the function, or by name.

    Bad:
        def forward(self, user, item): ...
        model(item, user)
    Good:
        model(user=user, item=item)
    """
    crash = run.crash
    fault = None if crash is None else range_fault(crash)
    if crash is None or fault is None or fault.kind != "swapped-ids" or fault.swap is None:
        return
    swap = fault.swap
    yield Proof(
        where=swap.site,
        message=f"`{swap.first}` and `{swap.second}` are swapped",
        label=f"ids up to {fault.high} for a table of {fault.size} rows",
        evidence={"rows": fault.size, "largest_id": fault.high, "arguments": [swap.first, swap.second]},
        edit=edits.call_replaced(swap.site, partial(_exchanged, names=(swap.first, swap.second))),
        fix=f"swap them: {swap.second}, {swap.first}",
        related=[(crash.site, "the lookup fails here")],
    )


def _exchanged(file: SourceFile, call: ast.Call, names: tuple[str, str]) -> str | None:
    """The call with the two arguments in each other's place."""
    given = [edits.text_of(file, one) for one in call.args]
    if call.keywords or any(given.count(name) != 1 for name in names):
        return None
    other = {names[0]: names[1], names[1]: names[0]}
    return f"{edits.text_of(file, call.func)}({', '.join(other.get(one, one) for one in given)})"
