"""The few helpers that scripts use from `wandb.util`."""

from __future__ import annotations

import os
from typing import Any

from stepscope.track.config import plain
from stepscope.wandb.run_config import friendly
from stepscope.wandb.wording import instead_of

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def generate_id(length: int = 8) -> str:
    """A random id for `wandb.init(id=...)`. Uses the system's randomness, so no generator of the training advances."""
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(length))


def json_friendly(obj: Any) -> tuple[Any, bool]:
    made = plain(obj)
    return made, made is not obj


def json_friendly_val(val: Any) -> Any:
    return friendly(val)


def make_artifact_name_safe(name: str) -> str:
    cleaned = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    return cleaned if len(cleaned) <= 128 else f"{cleaned[:63]}..{cleaned[-63:]}"


def __getattr__(name: str) -> Any:
    raise AttributeError(instead_of(f"util.{name}"))
