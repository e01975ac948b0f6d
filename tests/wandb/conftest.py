from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stepscope
import stepscope.wandb


@pytest.fixture
def wandb(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """`stepscope.wandb` with a store of its own, in an empty folder, without anybody's settings."""
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STEPSCOPE_DIR", str(store))
    monkeypatch.chdir(tmp_path)
    yield stepscope.wandb
    stepscope.wandb.finish()


@pytest.fixture
def last(store: Path) -> Callable[[], Any]:
    """The newest run of the store, read back."""
    return lambda: stepscope.runs(store)[0]
