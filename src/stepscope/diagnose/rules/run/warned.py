from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.known_errors import WARNINGS, known

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_WARNING = re.compile(r"^(?P<file>[^\s:][^:\n]*\.py):(?P<line>\d+): \w*Warning: (?P<text>[^\n]+)", re.M)


_EXPLAINED = ("opt.*", "loss.*", "shape.*", "autograd.*", "api.*", "dist.*")


@rule("run.warned", severity="info", needs="stored", follows=_EXPLAINED)
def warned(run: StoredRun) -> Iterator[Proof]:
    """A warning of torch or NumPy on the console is about results, not about style.

    Why it matters: the script may do something else than it was written for. Whether it does, the text of a warning
    alone does not prove: so this is a hint. For a run that was watched, rules with evidence say more.

    What to do: what the finding says for the warning at hand.

    How it is found: the console is searched for warnings whose meaning is known; each is reported once.

    Bad:
        scheduler.step()
        optimizer.step()
    Good:
        optimizer.step()
        scheduler.step()
    """
    seen: set[str] = set()
    for match in _WARNING.finditer(run.console):
        meaning = known(match["text"], WARNINGS)
        if meaning is None or meaning.meaning in seen:
            continue
        seen.add(meaning.meaning)
        yield Proof(
            where=(match["file"], int(match["line"])),
            message=meaning.meaning,
            fix=meaning.fix,
            label="the warning is about this line",
            evidence={"warning": match["text"][:400]},
        )
