"""A traceback as text, taken apart: the error, and the last line of the user's own code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stepscope.common.code_owner import is_library_path

_FRAME = re.compile(
    r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>[^\n]+))?\n(?P<code>[^\n]*)', re.M
)
_ERROR = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
_MOST = 400


@dataclass(frozen=True)
class Ended:
    """How a script ended, as its traceback says."""

    error: str
    """The type of the exception."""
    message: str
    file: str | None
    """Of the innermost frame outside libraries."""
    line: int | None
    function: str
    code: str


def read_traceback(text: str) -> Ended | None:
    """
    >>> read_traceback('''Traceback (most recent call last):
    ...   File "train.py", line 7, in main
    ...     step(x)
    ...   File "/usr/lib/python3/site-packages/torch/nn/functional.py", line 9, in linear
    ...     return f(x)
    ... RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 5x2)
    ... ''')
    Ended(error='RuntimeError', message='mat1 and mat2 shapes cannot be multiplied (4x3 and 5x2)', file='train.py', \
line=7, function='main', code='step(x)')
    """
    said = _error_in(text)
    if said is None:
        return None
    frames = [match for match in _FRAME.finditer(text) if not is_library_path(match["file"])]
    last = frames[-1] if frames else None
    return Ended(
        error=said[0].rpartition(".")[2],
        message=said[1][:_MOST],
        file=None if last is None else last["file"],
        line=None if last is None else int(last["line"]),
        function="" if last is None else (last["function"] or "").strip(),
        code="" if last is None else last["code"].strip(),
    )


def _error_in(text: str) -> tuple[str, str] | None:
    """The first line that is not indented: `RuntimeError: what happened`."""
    lines = text[text.rfind("Traceback (most recent call last):") :].splitlines()
    said = next((line for line in lines[1:] if line[:1].strip()), "")
    found = _ERROR.match(said)
    return None if found is None else (found["type"], found["message"] or "")
