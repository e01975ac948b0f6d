from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.crash.suspects import suspect_of
from stepscope.diagnose.crash.value_origin import bound, describe, rebound
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_FOR_ITS_EFFECT = ("load_state_dict", "backward", "append", "step", "zero_grad")


@rule("name.rebound", severity="error", needs="crash")
def rebound_name(run: Evidence) -> Iterator[Proof]:
    """A variable was given the name of something that is still needed: a loss function, a model, a module, a builtin.

    Why it matters: from that line on the name means the new value, and the next use of the old one fails.

    What to do: give the new value a name of its own: `loss = criterion(...)`, not `criterion = criterion(...)`.

    How it is found: what the name held when it failed is compared with every statement that binds the name. One that
    gives a value of that type is the cause; one that cannot have given it shows what the name stood for before.

    Bad:
        criterion = criterion(model(x), y)
    Good:
        loss = criterion(model(x), y)
    """
    crash = run.crash
    suspect = None if crash is None else suspect_of(crash)
    if crash is None or suspect is None or suspect.what not in ("is not callable", "has no attribute"):
        return
    if not isinstance(suspect.node, (ast.Name, ast.Attribute)) or suspect.value is None:
        return
    name, frame = said(suspect.node, 200), suspect.frame
    before = rebound(frame, name, suspect.value)
    binding = bound(frame, name, suspect.value)
    if before is None or binding is None or binding.value is None or (before.site == binding.site):
        return
    use = "called" if suspect.what == "is not callable" else f"used as if it had `.{suspect.name}`"
    yield Proof(
        where=binding.site,
        message=f"`{name}` was {before.was}, and this line makes it {describe(suspect.value)}",
        label=f"`{name}` is rebound here",
        evidence={"name": name, "was": before.was, "is": describe(suspect.value)},
        fix=_fix(
            binding.value,
            name,
            "the next time this line runs" if frame.line == binding.line else f"in line {frame.line}",
        ),
        related=[
            (before.site, "what it was before"),
            *([] if frame.line == binding.line else [(frame.site, f"it is {use} here")]),
        ],
    )


def _fix(value: ast.expr, name: str, when: str) -> str:
    """Another name; or none, where a method of the object itself gave something that nobody needs."""
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Attribute) and said(called.value) == name and called.attr in _FOR_ITS_EFFECT:
        return f"call it without assigning its result: `{said(value, 80)}`"
    return f"give this value another name; `{name}` is needed again {when}"
