"""A message of torch that says by itself what is wrong: its pattern, what it means, and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Known(NamedTuple):
    """A message of torch, as a pattern, and what a person should do about it."""

    pattern: re.Pattern[str]
    meaning: str
    fix: str
    value: bool = False
    """The fault lies in a value that is given; the line that fails is right."""
    argument: str = ""
    """The name of the argument that is at fault, where it is one."""
    parameter: bool = False
    """The definition of the parameter `name` is at fault."""

    def filled(self, text: str, names: Mapping[str, str]) -> tuple[str, str]:
        """Meaning and fix, with the message's own words, and names of the user's, in place of `{name}`."""
        found = self.pattern.search(text)
        words = {**names, **({} if found is None else found.groupdict())}

        def put(said: str) -> str:
            return re.sub(r"\{(\w+)\}", lambda one: words.get(one[1]) or one[0], said)

        return put(self.meaning), put(self.fix)


def known(text: str, table: tuple[Known, ...]) -> Known | None:
    """The first entry that fits a message."""
    return next((one for one in table if one.pattern.search(text)), None)


def entry(
    pattern: str, meaning: str, fix: str, value: bool = False, argument: str = "", parameter: bool = False
) -> Known:
    return Known(re.compile(pattern, re.I | re.S), meaning, fix, value, argument, parameter)
