"""Text from a run or a saved step, made safe to print: it may come from anywhere."""

from __future__ import annotations

import re

__all__ = ["clean"]

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|.)?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str, *, keep_newlines: bool = False) -> str:
    """The text without escape sequences, control or direction characters; on one line unless told otherwise.

    >>> clean("loss\\x1b]52;c;ZXZpbA==\\x07 up\\n")
    'loss up '
    """
    text = _CONTROLS.sub("", _ESCAPES.sub("", text))
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if keep_newlines else text.replace("\n", " ").replace("\t", " ")
