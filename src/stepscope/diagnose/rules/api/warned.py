from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.known_message import known
from stepscope.diagnose.stored.known_warnings import WARNINGS
from stepscope.evidence.python_warnings import PythonWarnings, Warned
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_STYLE = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning", "ResourceWarning", "ImportWarning")
_OTHERS = 3
"""Warnings that we have no words of our own for: more of them would hide the hints that matter."""
_EXPLAINED = ("opt.*", "loss.*", "math.*", "autograd.*", "grad.*", "dist.*", "num.*", "data.*", "dtype.*", "mode.*")
_PRINTED = re.compile(r"^(?P<file>[^\s:][^:\n]*\.py):(?P<line>\d+): (?P<category>\w*Warning): (?P<text>[^\n]+)", re.M)


@rule("api.warned", severity="info", needs="end, stored", follows=_EXPLAINED, is_symptom=True)
def warned(run: Evidence | StoredRun) -> Iterator[Proof]:
    """Torch or NumPy warned about this line.

    Why it matters: a warning scrolls by, often in the first second of a run of hours. Some say that a number is NaN,
    that a setting does nothing, or that shapes were stretched to fit.

    What to do: follow the finding's advice for this warning. If a warning is known to be harmless, filter it:
    `warnings.filterwarnings("ignore", message=...)`.

    How it is found: the warnings shown while the script ran, each with the line of the script that led to it. It is a
    hint: where another rule has found the cause, only the cause is shown. Deprecations are left out. In the folder of
    a run recorded without `stepscope run`, the console is searched for warnings whose meaning is known.

    Bad:
        nn.LSTM(8, 16, num_layers=1, dropout=0.5)
    Good:
        nn.LSTM(8, 16, num_layers=2, dropout=0.5)
    """
    seen: set[str] = set()
    others = 0
    for one in run[PythonWarnings].all if isinstance(run, Evidence) else _printed(run):
        meaning = known(one.text, WARNINGS)
        said = meaning.meaning if meaning is not None else _in_short(one)
        if one.site is None or not said or said in seen or (meaning is None and others >= _OTHERS):
            continue
        seen.add(said)
        others += meaning is None
        yield Proof(
            where=(one.site.file, one.site.line),
            message=said,
            label=f"{one.origin} warned here" if one.origin else "the warning is about this line",
            evidence={"warning": one.text, "category": one.category, "step": one.step},
            fix="" if meaning is None else meaning.fix,
        )


def _printed(run: StoredRun) -> Iterable[Warned]:
    """The warnings on the console, unless they were reported while the script ran."""
    if "api.warned" in run.found:
        return
    for match in _PRINTED.finditer(run.console):
        yield Warned(match["category"], match["text"][:400], Site(file=match["file"], line=int(match["line"])))


def _in_short(one: Warned) -> str:
    """The first sentence of a warning that is not about style or from the script itself.

    >>> _in_short(Warned("UserWarning", "The cache is cold. Consider warming it.", origin="torch"))
    'torch warns: The cache is cold'
    >>> _in_short(Warned("FutureWarning", "x is deprecated", origin="torch"))
    ''
    """
    if one.category in _STYLE or not one.origin:
        return ""
    first = re.split(r"(?<=[a-z)\]`'\"])[.;](?:\s|$)|\n", one.text.strip())[0]
    return f"{one.origin} warns: {first[:160]}"
