from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.known_errors import WARNINGS, known

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_WARNING = re.compile(r"^(?P<file>[^\s:][^:\n]*\.py):(?P<line>\d+): \w*Warning: (?P<text>[^\n]+)", re.M)


@rule("run.warned", needs="stored", follows=("opt.*", "loss.*", "shape.*", "autograd.*", "api.*", "dist.*"))
def warned(run: StoredRun) -> Iterator[Proof]:
    """Torch printed a warning that names a bug.

    Why it matters: some warnings are about style; these are about results: the training does something else than it
    was written for.

    What to do: what the finding says for the warning at hand.

    How it is found: the console is searched for warnings of torch that mean a bug whatever the script; each is reported
    once.

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
            label="torch warned here",
            evidence={"warning": match["text"][:400]},
        )
