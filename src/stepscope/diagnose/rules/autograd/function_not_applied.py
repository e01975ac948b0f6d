from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose import edits
from stepscope.diagnose.crash.frames import MISSING, Frame, type_name
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("autograd.function-not-applied", severity="error", needs="crash")
def function_not_applied(run: Evidence) -> Iterator[Proof]:
    """An object of a `torch.autograd.Function` is called like a layer.

    Why it matters: PyTorch records such a function only through `apply`; an object of it cannot be called.

    What to do: create no object; call `MyFunction.apply(x)`.

    Bad:
        self.round = Round()
        y = self.round(x)
    Good:
        y = Round.apply(x)
    """
    crash = run.crash
    if crash is None or crash.last is None or not crash.says(r"legacy autograd function with non-static forward"):
        return
    call = crash.last.running
    name = _class_of(crash.last, call.func) if isinstance(call, ast.Call) else ""
    given = ", ".join(ast.unparse(part) for part in call.args) if isinstance(call, ast.Call) else "x"
    applied = f"{name or 'MyFunction'}.apply({given})"
    yield Proof(
        where=crash.site,
        message=f"{f'`{name}`' if name else 'this'} is an autograd Function: it is used through `apply`, not by "
        "calling an object of it",
        label="an object of it is called here",
        evidence={"function": name},
        edit=edits.replace(crash.site, applied) if name and isinstance(call, ast.Call) else None,
        fix=f"call {applied}, and create no object of {name or 'it'}",
    )


def _class_of(frame: Frame, called: ast.expr) -> str:
    """The class whose object is called: `Round()(x)`, `self.round(x)`."""
    if isinstance(called, ast.Call):
        return said(called.func)
    value = frame.value_of(called)
    return "" if value is MISSING else type_name(value)
