"""`rankN.data.json` as the analyses need it. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stepscope.profile.data.loader_facts import LoaderFacts

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

__all__ = ["loader_facts", "loader_names"]


class _Data(msgspec.Struct):
    loaders: list[LoaderFacts] = []
    cpus: int = 0


def loader_facts(profile: Profile, rank: int) -> dict[int, LoaderFacts]:
    """What was written down of each loader, by its number; empty when there is nothing or it is damaged."""
    raw = profile.read("data", rank)
    if raw is None:
        return {}
    try:
        return {one.number: one for one in msgspec.json.decode(raw, type=_Data).loaders}
    except msgspec.MsgspecError:
        return {}


def loader_names(profile: Profile, rank: int) -> dict[int, str]:
    """How each loader is called in a table: by its dataset and where it was made."""
    return {
        number: f"{one.dataset} ({one.made})" if one.made else one.dataset
        for number, one in loader_facts(profile, rank).items()
    }
