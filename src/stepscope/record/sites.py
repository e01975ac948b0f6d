"""Where in the user's source an op was called: the first frame outside torch, Python's library and Stepscope.

During the step only `(code, f_lasti)` is kept; lines, columns and source text are looked up when the step is over.
"""

from __future__ import annotations

import linecache
import sys
from functools import partial
from types import CodeType, FrameType

from stepscope.common.code_owner import USERS, is_users_file
from stepscope.records.place import Place
from stepscope.records.step import Site

__all__ = ["USERS", "Sites", "Spot", "is_users", "place_at", "place_of", "site_at"]

Spot = tuple[CodeType, int]
"""A place as the interpreter has it: the code, and the instruction in it."""
_PLACES: dict[tuple[int, int], tuple[CodeType, Place]] = {}
"""By the address of the code, which is kept so that no other takes it: to hash a code is slow."""


def is_users(code: CodeType) -> bool:
    """Whether this code is the user's (or a library's on top of torch), and not torch's, Python's or ours."""
    return is_users_file(code.co_filename)


def place_of(frame: FrameType | None) -> Spot | None:
    """The first spot in the user's own code, from `frame` outwards."""
    users = USERS
    while frame is not None:
        code = frame.f_code
        mine = users.get(code.co_filename)
        if mine is None:
            mine = is_users(code)
        if mine:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def place_at(code: CodeType, instruction: int) -> Place:
    """The place of an instruction; always the same object for the same one."""
    key = (id(code), instruction)
    known = _PLACES.get(key)
    if known is None:
        find = partial(site_at, (code, instruction))
        function = getattr(code, "co_qualname", code.co_name)
        known = _PLACES[key] = (code, Place(code.co_filename, function, code.co_firstlineno, find))
    return known[1]


def site_at(spot: Spot) -> Site:
    """Turn a spot into file, line and columns."""
    code, instruction = spot
    line, end_line, column, end_column = _position(code, instruction)
    function = getattr(code, "co_qualname", code.co_name)
    text = linecache.getline(code.co_filename, line).strip()
    return Site(
        file=code.co_filename,
        line=line,
        function=function,
        end_line=end_line,
        column=column,
        end_column=end_column,
        text=text,
    )


def _position(code: CodeType, instruction: int) -> tuple[int, int | None, int | None, int | None]:
    if sys.version_info >= (3, 11):
        for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
            if index * 2 == instruction:
                if line is not None:
                    return line, end_line, column, end_column
                break
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line, None, None, None
    return code.co_firstlineno, None, None, None


class Sites:
    """The table of a step's sites; each is listed once."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self._spots: dict[tuple[int, int], int] = {}
        self._codes: list[CodeType] = []
        self._indices: dict[tuple[str, int, int | None, int | None, str], int] = {}

    def index(self, where: Spot | Place | Site | None) -> int | None:
        if where is None:
            return None
        if type(where) is not tuple:
            return self.add(where.site if isinstance(where, Place) else where)  # type: ignore[arg-type]
        code, instruction = where
        key = (id(code), instruction)  # to hash a code is slow
        known = self._spots.get(key)
        if known is None:
            self._codes.append(code)  # so that no other takes its address
            known = self._spots[key] = self.add(site_at(where))
        return known

    def add(self, site: Site) -> int:
        key = (site.file, site.line, site.column, site.end_column, site.function)
        known = self._indices.get(key)
        if known is None:
            known = self._indices[key] = len(self.sites)
            self.sites.append(site)
        return known
