"""The message of a line that `logging` wrote, by the formats of the handlers that write to the stream.

`2026-01-02 03:04:05,678 trainer INFO: loss 0.5` begins with words that are not part of a name, but which ones only the
format of its handler says: `INFO loss: 0.5` may be of a logger called `loss`.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any

__all__ = ["message_of"]

_FIELD = {
    "%": re.compile(r"%\((?P<name>\w+)\)[-+ #0]*(?P<width>\d*)(?P<cut>\.\d+)?[a-zA-Z]|%%"),
    "{": re.compile(r"\{(?P<name>\w+)(?P<width>:)?[^{}]*\}"),
    "$": re.compile(r"\$\{(?P<braced>\w+)\}|\$(?P<name>\w+)"),
}
_LOOKS = {
    "message": "(?P<message>.*?)",
    "name": r"[\w.\-]+",
    "filename": r"[\w.\-]+",
    "pathname": r"\S+",
    "module": r"[\w.\-]+",
    "funcName": r"[\w.<>]+",
    "processName": r"[\w.\-]+",
    "threadName": r"[\w.\-]+(?: \(\w+\))?",
    **dict.fromkeys(("lineno", "process", "thread", "levelno"), r"\d+"),
    **dict.fromkeys(("created", "msecs", "relativeCreated"), r"[\d.]+"),
}
_ANY = r"\S*?"
"""A field of the script's own (a rank, a color)."""
_USUAL_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def message_of(line: str, stream: Any) -> str:
    """The message of a line if a handler writes such lines to this stream; else the line itself.

    >>> import io, logging
    >>> handler = logging.StreamHandler(io.StringIO())
    >>> handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)-8s: %(message)s", "%H:%M"))
    >>> message_of("20:38 engine.loop INFO    : loss: 0.5", handler.stream), message_of("loss: 0.5", handler.stream)
    ('loss: 0.5', 'loss: 0.5')
    """
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return line
    for known in list(logging._handlerList):
        handler = known()
        if getattr(handler, "stream", None) is not stream:
            continue
        formatter = getattr(handler, "formatter", None)
        pattern = _pattern_of(formatter, tuple(logging._levelToName.values()))
        found = None if pattern is None else pattern.fullmatch(_ANSI.sub("", line))
        if found is not None:
            return found["message"]
    return line


def _pattern_of(formatter: Any, levels: tuple[str, ...]) -> re.Pattern[str] | None:
    fmt, style = getattr(formatter, "_fmt", None), type(getattr(formatter, "_style", None)).__name__
    mark = {"PercentStyle": "%", "StrFormatStyle": "{", "StringTemplateStyle": "$"}.get(style)
    datefmt = getattr(formatter, "datefmt", None)
    if type(fmt) is not str or mark is None or (datefmt is not None and type(datefmt) is not str):
        return None
    return _pattern(fmt, mark, datefmt, levels)


@lru_cache(maxsize=32)
def _pattern(fmt: str, mark: str, datefmt: str | None, levels: tuple[str, ...]) -> re.Pattern[str] | None:
    """None for a format that is nothing but the message, or has none."""
    looks = _LOOKS | {
        "asctime": _USUAL_TIME if datefmt is None else _time_pattern(datefmt),
        "levelname": "|".join(map(re.escape, levels)),
    }
    fields = list(_FIELD[mark].finditer(fmt))
    names = [field.groupdict().get("braced") or field["name"] for field in fields]
    if names.count("message") != 1 or len(names) == 1:
        return None
    pieces, done = [], 0
    for field, name in zip(fields, names, strict=True):
        pieces += [_literal(fmt[done : field.start()]), _look(field, looks.get(name, _ANY)) if name else "%"]
        done = field.end()
    return re.compile("".join([*pieces, _literal(fmt[done:]), r"\s*"]), re.DOTALL)


def _look(field: re.Match[str], look: str) -> str:
    said = field.groupdict()
    if said.get("cut"):
        return r"\S+"
    return rf"\s*(?:{look})\s*" if said.get("width") else f"(?:{look})"


def _literal(text: str) -> str:
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def _time_pattern(datefmt: str) -> str:
    """
    >>> _time_pattern("%d %b, %H:%M")
    '\\\\d+\\\\ \\\\w+,\\\\ \\\\d+:\\\\d+'
    """
    pieces, done = [], 0
    for code in re.finditer(r"%-?([a-zA-Z%])", datefmt):
        letter = code[1]
        look = r"\d+" if letter in "YymdHIMSfjUW" else r"\w+" if letter in "aAbBp" else r"\S.*?"
        pieces += [re.escape(datefmt[done : code.start()]), "%" if letter == "%" else look]
        done = code.end()
    return "".join([*pieces, re.escape(datefmt[done:])])
