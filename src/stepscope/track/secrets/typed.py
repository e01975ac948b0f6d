"""Text typed by a person: a secret in it is rejected with a message, never silently masked.

A script's output is masked, because nobody is watching. A person typing a note is: a note that came back with `***`
would look like a bug, and anything masked by mistake would be lost.
"""

from __future__ import annotations

from stepscope.errors import UsageError
from stepscope.track.secrets.text import mask_text

_SHOWN = 80


def refuse_secret(what: str, text: str, otherwise: str) -> None:
    """Reject text that seems to contain a secret; `otherwise` tells what to do if it is not one.

    >>> refuse_secret("the notes", "good run, lr=3e-4", "reword it")
    >>> refuse_secret("the notes", "good run\\napi_key=q9X2mB7vT4cW8zLk", "reword it")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    stepscope.errors.UsageError: line 2 of the notes seems to contain a secret: 'api_key=***'. Write *** in its ...
    """
    masked = mask_text(text)
    if masked == text:
        return
    pairs = zip(text.splitlines(), masked.splitlines(), strict=False)
    number, line = next((at, shown) for at, (typed, shown) in enumerate(pairs, 1) if typed != shown)
    place = f"line {number} of {what}" if "\n" in text.strip() else what
    raise UsageError(
        f"{place} seems to contain a secret: {_clipped(line)!r}. "
        f"Write *** in its place; if it is not a secret, {otherwise}"
    )


def _clipped(line: str) -> str:
    """The part of the line around the first mask."""
    start = max(0, line.find("***") - _SHOWN // 2)
    part = line[start : start + _SHOWN].strip()
    return f"{'…' if start else ''}{part}{'…' if start + _SHOWN < len(line) else ''}"
