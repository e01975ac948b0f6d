from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.proved import advice, plan_of, site_of, sure_repair
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("crash.one-change", severity="error", needs="unexplained")
def one_change(run: Evidence) -> Iterator[Proof]:
    """One small change lets the script go on: a trial has shown it.

    Why it matters: the script ended here.

    What to do: make the change, if it says what you mean.

    How it is found: the expression that raised is tried again with what is often meant instead: parentheses after a
    class or a method, two arguments or the two sides of `@` in the other order, an attribute of the wrapped object, a
    number for a text. Each is tried in a fork that cannot write or send anything, from the line that raised to the end
    of its loop. Not tried: code that uses an accelerator or a process group.

    Bad:
        h = x @ adj                 # [50, 16] @ [50, 50]
    Good:
        h = adj @ x
    """
    crash, repair = run.crash, sure_repair(run)
    if crash is None or repair is None:
        return
    where = site_of(repair)
    elsewhere = crash.site is not None and crash.site.line != where.line
    yield Proof(
        where=where,
        message=repair.because,
        label=f"write `{repair.new}`",
        evidence={"error": f"{crash.type}: {crash.text[:200]}", "old": repair.spots[0].old, "new": repair.new},
        fix=advice(repair),
        edit=plan_of(repair),
        related=[(crash.site, "it fails here")] if elsewhere else [],
    )
