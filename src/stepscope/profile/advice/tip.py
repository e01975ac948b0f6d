"""What a rule over profiles yields: a proof, with its share of the step and what mending it saves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stepscope.diagnose.rule import Proof


@dataclass(frozen=True)
class Trial:
    """How a tip can be tried without touching the script: what `stepscope profile --try` does for it."""

    kind: str
    """loader: other DataLoader settings · flag: a torch switch · compile · amp · channels_last · optimizer · ideal"""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Tip(Proof):
    """One thing to change."""

    where: tuple[str, int] | None
    """(file, line) of the user's own source, where one is known."""
    share: float
    """The part of the step that this is about, 0 to 1: measured."""
    saving_ns: int
    """What a step would take less, estimated; never more than what was measured."""
    how: str = ""
    """Where the estimate comes from."""
    part: str = ""
    """What of the step it is about: tips about the same part cannot save more than that part together."""
    trial: Trial | None = None
    at_most: bool = False
    """The saving is only a bound: what is really gained cannot be estimated, only tried."""
