"""The title that results stand under: `***** Eval results on mismatched *****`, and below it `acc = 0.5`.

Of a title that a frame sets apart from the lines, the words that tell one set of results from another follow their
names: `acc (mismatched)`. A title is over with the next one, or when training continues.
"""

from __future__ import annotations

import re

from stepscope.launch.printed.read_line import is_metric, words

_TITLE = re.compile(r"\s*(?P<frame>\*{3,}|={3,}|-{3,}|#{3,})\s*(?P<title>[A-Za-z][^\d*=#]*?)\s*(?P=frame)\s*")
_OF_RESULTS = re.compile(r"result|metric|score|performance|report|evaluat|eval|test|valid|dev", re.IGNORECASE)
_SAYS_NOTHING = re.compile(
    r"\b(?:eval(?:uation)?|results?|metrics?|scores?|performance|report|running|the|on|of|for|in|set|split|data|dataset"
    r"|epoch|model|final)\b[\s:_-]*",
    re.IGNORECASE,
)


class Sections:
    """
    >>> sections = Sections()
    >>> sections.read("***** Eval results on mismatched *****", 8), sections.named("acc", 8), sections.named("acc", 9)
    (True, 'acc (mismatched)', 'acc')
    >>> sections.read("===== Results =====", 9), sections.named("acc", 9)
    (True, 'acc')
    """

    def __init__(self) -> None:
        self._of = ""
        self._at: int | None = None

    def read(self, line: str, step: int | None) -> bool:
        """Whether this line is a title; results that follow it at this step are under it."""
        found = _TITLE.fullmatch(line)
        if found is None or not _OF_RESULTS.search(found["title"]):
            return False
        self._of, self._at = words(_SAYS_NOTHING.sub("", found["title"])), step
        return True

    def named(self, name: str, step: int | None) -> str:
        """A name below the title."""
        is_under = self._of and step == self._at and is_metric(name) and self._of.lower() not in name.lower()
        return f"{name} ({self._of})" if is_under else name
