"""A location in the user's source: an executed expression, by file, line and columns."""

from __future__ import annotations

from collections.abc import Callable

from stepscope.records.step import Site

__all__ = ["Place"]


class Place:
    """One executed expression. There is one object per expression, so places are compared by identity.

    >>> place = Place("train.py", "main", 3, Site(file="train.py", line=7, function="main"))
    >>> place, place.line
    (Place(train.py:7), 7)
    """

    __slots__ = ("_find", "_site", "file", "first_line", "function")
    __record__ = ("file", "first_line", "function", "site")

    def __init__(self, file: str, function: str, first_line: int, site: Site | Callable[[], Site]) -> None:
        self.file = file
        self.function = function
        self.first_line = first_line
        """The first line of the function."""
        self._site: Site | None = site if isinstance(site, Site) else None
        self._find = None if isinstance(site, Site) else site

    @property
    def site(self) -> Site:
        """Its line and columns; looked up on first use."""
        if self._site is None:
            assert self._find is not None
            self._site, self._find = self._find(), None
        return self._site

    @site.setter
    def site(self, site: Site) -> None:
        self._site, self._find = site, None

    @property
    def line(self) -> int:
        return self.site.line

    @property
    def name(self) -> str:
        """The function's name without its qualifier."""
        return self.function.rpartition(".")[2]

    def is_beside(self, other: Place | None) -> bool:
        """Whether both are in the same function."""
        mine = (self.file, self.first_line, self.function)
        return other is not None and mine == (other.file, other.first_line, other.function)

    def __repr__(self) -> str:
        return f"Place({self.file}:{self.line})"
