"""Boxes of a name and a value a row, with sections: the way reinforcement learning libraries print.

| rollout/           |      |
|    ep_rew_mean     | 21.5 |
"""

from __future__ import annotations

import re

from stepscope.launch.printed.read_line import Line, words

_ROW = re.compile(
    r"^\s*[|│┃](?P<indent>\s*)(?P<name>[^|│┃]*[A-Za-z][^|│┃]*?)\s*[|│┃]\s*(?P<value>[^|│┃]*?)\s*[|│┃]\s*$"
)
_VALUE = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?(?:nan|inf)", re.IGNORECASE)


class BoxRows:
    """
    >>> rows = BoxRows()
    >>> [rows.read(text).numbers for text in ("| train/   |      |", "|    loss  | 0.5  |")]
    [{}, {'train/loss': 0.5}]
    """

    def __init__(self) -> None:
        self._section, self._indent = "", 0

    def read(self, text: str) -> Line | None:
        """The number of such a row; None for other lines."""
        found = _ROW.match(text)
        if found is None:
            return None
        name, value, indent = words(found["name"]), found["value"].rstrip("% "), len(found["indent"])
        if not value:
            self._section, self._indent = found["name"], indent
            return Line()
        if not name or _VALUE.fullmatch(value) is None:
            return None
        is_inside = self._section.endswith("/") and indent > self._indent
        return Line({f"{self._section}{name}" if is_inside else name: float(value)})
