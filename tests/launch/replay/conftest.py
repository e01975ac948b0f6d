"""`keeping`: run small scripts under the keeper of capsules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def keeping() -> ModuleType:
    spec = importlib.util.spec_from_file_location("keeping", Path(__file__).parent.parent / "keeping.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
