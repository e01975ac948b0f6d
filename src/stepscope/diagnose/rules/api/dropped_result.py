from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import dotted
from stepscope.records.place import Place

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)


@rule("api.dropped-result", severity="warning")
def dropped_result(run: Evidence) -> Iterator[Proof]:
    """A tensor method is called for its effect, but it has none: it returns a new tensor, which is thrown away.

    Why it matters: `x.clamp(0, 1)`, `hidden.detach()` or `mask.to(x.dtype)` on a line of its own changes nothing. The
    script continues with the values it had before.

    What to do: assign the result (`x = x.clamp(0, 1)`), or use the in-place form (`x.clamp_(0, 1)`).

    How it is found: an operation ran whose call is a statement of its own; it returned another tensor than the one it
    was called on, and wrote to none. Calls at the top level of a script, as a notebook leaves them, are hints only.

    Bad:
        noisy.clamp(0, 1)
    Good:
        noisy = noisy.clamp(0, 1)
    """
    for dropped in run.unused_results.dropped if run.steps.step_count else ():
        call = run.source.call(dropped.place)
        if call is None:
            continue
        text = ast.unparse(call)
        name = _receiver(call)
        yield Proof(
            where=dropped.place,
            message=f"the result of `{text if len(text) <= 60 else dropped.origin.op + '(...)'}` is thrown away: "
            f"{dropped.origin.op}() returns a new tensor and changes nothing",
            label="nothing is assigned",
            evidence={"op": dropped.origin.op, "calls": dropped.count},
            fix=f"assign it: {name} = {text}" if name else "assign the result",
            severity=None if _is_inside(run, dropped.place, call) else "info",
        )


def _receiver(call: ast.Call) -> str:
    """The tensor that was meant to change: what the method is called on, or the first argument of a function."""
    function = call.func
    if isinstance(function, ast.Attribute) and dotted(function.value).split(".")[0] not in ("torch", "F", "nn"):
        return dotted(function.value)
    return dotted(call.args[0]) if call.args else ""


def _is_inside(run: Evidence, place: Place, call: ast.Call) -> bool:
    file = run.source.file(place.site.file)
    return file is not None and file.enclosing(call, *_LOOPS) is not None
