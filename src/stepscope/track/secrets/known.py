"""Secret values seen before: masked wherever they occur again, including encoded forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import TracebackType

from stepscope.runs.scrub.needle import written_forms
from stepscope.track.secrets.names import is_secret_name
from stepscope.track.secrets.values import is_opaque, is_place

MOST_OVERHEARD = 256
"""The newest secrets seen in passing (in a diff, on the console) are remembered up to this many: searching for
thousands would slow the training."""

_MOST_FRAMES = 200
_known: dict[str, None] = {}
_overheard: dict[str, None] = {}
_longest_first: tuple[str, ...] = ()


def known_values() -> tuple[str, ...]:
    """All of them, longest first."""
    return _longest_first


def learn(value: str, in_passing: bool = False) -> None:
    """Remember a secret's value, so that it is masked wherever it occurs later."""
    global _longest_first
    if len(value) < 8 or value in _known or not re.search(r"[A-Za-z]", value) or not re.search(r"[^A-Za-z\s]", value):
        return  # a plain word or number would mask half the console
    if in_passing:
        _overheard[value] = None
        for old in list(_overheard)[:-MOST_OVERHEARD]:
            _overheard.pop(old, None)
    else:
        _known.update(dict.fromkeys(form for form in written_forms(value) if len(form) >= 8))
    _longest_first = tuple(sorted({*list(_known), *list(_overheard)}, key=len, reverse=True))


def learn_from(variables: Mapping[str, str]) -> None:
    """Remember the secrets among environment variables."""
    for name, value in variables.items():
        if hides(name, value):
            learn(value)


def learn_from_crash(trace: TracebackType | None) -> None:
    """Remember the secrets among the local variables of a crash: the lines of its traceback may spell them out."""
    for _ in range(_MOST_FRAMES):
        if trace is None:
            return
        for name, value in list(trace.tb_frame.f_locals.items()):
            if isinstance(value, str) and len(value) < 1000 and hides(name, value):
                learn(value, in_passing=True)
        trace = trace.tb_next


def hides(name: str, value: str) -> bool:
    """Whether a variable, setting or field of this name contains a secret."""
    verdict = is_secret_name(name)
    if verdict == "no" or not value or is_place(name, value):
        return False
    return verdict != "maybe" or is_opaque(value)


def forget_all() -> None:
    """Reset; for tests."""
    global _longest_first
    _known.clear()
    _overheard.clear()
    _longest_first = ()
