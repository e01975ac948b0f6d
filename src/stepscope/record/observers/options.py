"""Notes the options that argparse gave the script. Words are not kept: one could be a password."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from stepscope.evidence.options import Option, Options
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own_file, own_place

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.record.observers.watcher import Watcher

_MOST = 200
_NO = frozenset(("false", "0", "no", "off", "n", "f", "none"))


class OptionObserver(Observer, Options):
    def __init__(self, watcher: Watcher) -> None:
        Options.__init__(self)
        super().__init__(watcher)

    def install(self, installed: Installed) -> None:
        installed.after("argparse:ArgumentParser.parse_known_args", "reading options", self._parsed)

    def _parsed(self, frame: Any, result: Any, parser: Any, args: Any = None, *rest: Any, **kwargs: Any) -> None:
        place = own_place(frame)
        if self.all or place is None or not is_own_file(place.file) or not self.watcher.listens():
            return
        words = [str(word) for word in (sys.argv[1:] if args is None else args)]
        self.parsed = place
        for action in parser._actions[:_MOST]:
            value = getattr(result[0], action.dest, None)
            if action.option_strings and hasattr(result[0], action.dest):
                self.all.append(_option(action, value, words))


def _option(action: Any, value: Any, words: list[str]) -> Option:
    option = Option(str(action.dest), list(action.option_strings), getattr(action.type, "__name__", ""))
    option.value = float(value) if isinstance(value, (int, float)) else None
    given = _given(option.flags, words)
    option.is_given = given is not None
    if action.type is bool and given is not None and given.lower() in _NO and value is True:
        option.turns_off = given
    return option


def _given(flags: Iterable[str], words: list[str]) -> str | None:
    """The word that the command line gives to an option; "" where it has none."""
    for at, word in enumerate(words):
        for flag in flags:
            if word == flag:
                return words[at + 1] if at + 1 < len(words) else ""
            if word.startswith(f"{flag}="):
                return word.partition("=")[2]
    return None
