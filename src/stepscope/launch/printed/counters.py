"""Integers inside printed names: a label (`class 3 accuracy`) has a series of its own, a counter (`TOLD 48`) has not.

An integer that the source spells out is part of the name (`on the 10000 test images`). So is one after a word that
numbers things, and one that recurs or occurs with others at one step. All others count, and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from stepscope.launch.printed.read_line import words
from stepscope.launch.source_names import literal_integers

Place = tuple[str, int] | None
_INTEGER = re.compile(r"(?<![\w.@(-])\d+(?![\w.@])")
_NUMBERS_THINGS = re.compile(
    r"\b(?:class|label|fold|layer|block|stage|level|head|model|net|network|task|group|client|agent|player|env|expert"
    r"|domain|split|seed|trial|run|rank|gpu|device|worker|view|scale|top|dim|order|part|phase|member|chain|component"
    r"|cluster|channel|subject|critic|actor|student|teacher)s?\s*[#:]?\s*$",
    re.IGNORECASE,
)
MOST_LABELS = 30


@dataclass
class _Seen:
    """One name, with the integers that stood in it and the step of each."""

    steps: dict[tuple[str, ...], int | None] = field(default_factory=dict)
    are_labels: bool = False

    def note(self, integers: tuple[str, ...], step: int | None) -> None:
        comes_back = self.steps.pop(integers, step) != step
        has_company = step in self.steps.values()
        self.steps[integers] = step
        self.are_labels = (self.are_labels or comes_back or has_company) and len(self.steps) <= MOST_LABELS


class CounterFreeNames:
    """
    >>> names = CounterFreeNames()
    >>> names.of(["TOLD 48"], 10) + names.of(["TOLD 96"], 20) + names.of(["fold 2 loss"], 20)
    ['TOLD', 'TOLD', 'fold 2 loss']
    >>> names.of(["loss of 1", "loss of 2"], 30)
    ['loss of 1', 'loss of 2']
    """

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def of(self, names: Iterable[str], step: int | None, place: Place = None) -> list[str]:
        """The series of the names of one line, that this place printed at a step; "" for a mere counter."""
        spelled = literal_integers(*place) if place is not None else frozenset[str]()
        found = [(name, *_split(name, spelled)) for name in names]
        for _, plain, integers in found:
            if integers:
                self._seen.setdefault(plain, _Seen()).note(integers, step)
        return [name if plain and self._keeps(plain) else plain for name, plain, _ in found]

    def _keeps(self, plain: str) -> bool:
        return plain in self._seen and self._seen[plain].are_labels


def _split(name: str, spelled: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """A name without the integers that may be counters, and those."""
    integers = []
    for one in reversed(list(_INTEGER.finditer(name))):
        if one[0] not in spelled and not _NUMBERS_THINGS.search(name[: one.start()]):
            integers.append(one[0])
            name = f"{name[: one.start()]} {name[one.end() :]}"
    return (words(name) if integers else name), tuple(integers)
