"""`rankN.data.json` as the analyses need it. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stepscope.files.decoding import MALFORMED
from stepscope.profile.data.loader_facts import LoaderFacts

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile


class _Data(msgspec.Struct):
    loaders: list[LoaderFacts] = []
    lines: list[tuple[int, str, int, str, int]] = []
    cpus: int = 0


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_data_decoder = msgspec.json.Decoder(_Data)


def _data(profile: Profile, rank: int) -> _Data:
    """What is there; nothing when there is no such file or it is damaged."""
    raw = profile.read("data", rank)
    try:
        return _Data() if raw is None else _data_decoder.decode(raw)
    except MALFORMED:
        return _Data()


def loader_facts(profile: Profile, rank: int) -> dict[int, LoaderFacts]:
    """What was written down of each loader, by its number."""
    return {one.number: one for one in _data(profile, rank).loaders}


def worker_lines(profile: Profile, rank: int) -> list[tuple[int, str, int, str, int]]:
    """(loader, file, line, function, nanoseconds) of what workers were seen at, the most first."""
    return _data(profile, rank).lines


def loader_names(profile: Profile, rank: int) -> dict[int, str]:
    """How each loader is called in a table: by its dataset and where it was made."""
    return {
        number: f"{one.dataset} ({one.made})" if one.made else one.dataset
        for number, one in loader_facts(profile, rank).items()
    }
