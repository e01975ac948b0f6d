"""What a capsule is made for: the failure, and how the script was started."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stepscope.launch.capsule.manifest import Why


class Failure(NamedTuple):
    """What went wrong, and where the script was."""

    why: Why
    step: int
    frames: Sequence[FrameType]
    error: str = ""
    loss: float | None = None
    grad_norm: float | None = None
    late: bool = False


class Surroundings(NamedTuple):
    """How the script was started."""

    script: str = ""
    is_module: bool = False
    argv: Sequence[str] = ()
    rank: int = 0
