"""Which loaders a script has: where each was made, with what settings, and its number."""

from __future__ import annotations

from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from stepscope import events
from stepscope.profile.data.loader_facts import LoaderFacts
from stepscope.record.lengths import known_length

_MOST_AT_A_PLACE = 8


class Loaders:
    """Numbers loaders in the order they are made or first iterated."""

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._of_iterator: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._made: dict[int, tuple[str, int]] = {}
        self._of_place: dict[Any, dict[int, int]] = {}
        self._sites: dict[Any, tuple[str, int, str]] = {}
        self.facts: dict[int, LoaderFacts] = {}

    def install(self, installed: events.Installed) -> None:
        """From now on, note where loaders are made."""
        subscription = events.subscribe("noting where a loader is made", loader_made=self._is_made)
        installed.add(subscription.remove)

    def of(self, loader: Any) -> int:
        """Its number."""
        known = self._numbers.get(loader)
        if known is None:
            known = self._numbers[loader] = len(self.facts)
            self.facts[known] = LoaderFacts(number=known)
        return known

    def _join(self, loader: Any, place: Any) -> None:
        """One that is recreated at the same place over the same data, as in every epoch, has the number it had."""
        before = self._of_place.setdefault(place, {})
        data = id(getattr(loader, "dataset", None))
        if data in before or len(before) >= _MOST_AT_A_PLACE:
            self._numbers[loader] = before.get(data, next(iter(before.values())))
        else:
            before[data] = self.of(loader)

    def place(self, loader: Any) -> tuple[str, int] | None:
        """(file, line) where it was made."""
        return self._made.get(self.of(loader))

    def begins(self, iterator: Any, loader: Any) -> int:
        """A pass begins; its settings are those of now."""
        number = self._of_iterator[iterator] = self.of(loader)
        facts = self.facts[number]
        facts.passes += 1
        facts.dataset = type(loader.dataset).__name__
        facts.samples = known_length(loader.dataset)
        facts.batch_size = loader.batch_size
        facts.workers = loader.num_workers
        facts.prefetch = loader.prefetch_factor
        facts.persistent = bool(loader.persistent_workers)
        facts.pin = bool(loader.pin_memory)
        context = getattr(loader, "multiprocessing_context", None)
        facts.start_method = context.get_start_method() if context is not None else ""
        return number

    def number_of(self, iterator: Any) -> int:
        return self._of_iterator.get(iterator, 0)

    def _is_made(self, loader: Any, frame: FrameType | None) -> None:
        from stepscope.profile.data.stages import shown_path
        from stepscope.record.observers.own_frames import own_place

        place = own_place(frame)
        if place is None:
            return
        self._join(loader, place)
        number = self.of(loader)
        known = self._sites.get(place)
        if known is None:
            site = place.site
            known = self._sites[place] = (site.file, site.line, f"{shown_path(site.file)}:{site.line}")
        facts = self.facts[number]
        facts.file, facts.line, facts.made = known
        self._made[number] = known[:2]
