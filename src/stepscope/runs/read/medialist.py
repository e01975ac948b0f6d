"""The media of a run in order, and which of them a later attempt logged again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stepscope.records import FileHeader, Media
from stepscope.runs.read.runlogs import Part


@dataclass(frozen=True)
class LoggedMedia:
    media: Media
    header: FileHeader
    superseded: bool = False
    place: int = 0
    """Number of media the run had written before it."""

    @property
    def moment(self) -> tuple[float, int, int]:
        """When it was logged: media of one call may be written in any order."""
        return self.media.time, self.media.place, self.place


def media_by_key(parts: Iterable[Part]) -> dict[str, list[LoggedMedia]]:
    """Each key's media by step, ties in logging order. `parts` come by attempt, then by time."""
    found: dict[str, list[tuple[FileHeader, Media, int]]] = {}
    place = 0
    for part in parts:
        for _seq, media in part.media:
            found.setdefault(media.key, []).append((part.header, media, place))
            place += 1
    return {key: _in_order(found[key]) for key in sorted(found)}


def media_kinds(found: dict[str, list[LoggedMedia]], as_logged: bool) -> dict[str, str]:
    """The kind of each key. `as_logged`: by each key's first medium, so that layers keep their model's order."""
    keys = sorted(found, key=lambda key: min(one.moment for one in found[key])) if as_logged else list(found)
    return {key: first_kind(found[key]) for key in keys}


def first_kind(items: list[LoggedMedia]) -> str:
    """The kind of the newest medium: of its first part, because an embedding's second part is a sheet of images."""
    return next((one for one in reversed(items) if one.media.index == 0), items[-1]).media.kind


def _in_order(items: list[tuple[FileHeader, Media, int]]) -> list[LoggedMedia]:
    """By the rule for series: an attempt hides earlier media of its rank from its first step on."""
    first: dict[tuple[int, int], int] = {}
    for header, media, _place in items:
        key = (header.rank, header.attempt)
        first[key] = min(first.get(key, media.step), media.step)
    hidden_from = {
        (rank, attempt): min((step for (r, a), step in first.items() if r == rank and a > attempt), default=None)
        for rank, attempt in first
    }
    listed = []
    for header, media, place in items:
        limit = hidden_from[header.rank, header.attempt]
        listed.append(LoggedMedia(media, header, limit is not None and media.step >= limit, place))
    return sorted(listed, key=lambda one: (one.media.step, one.media.time))
