"""As far as dynamo goes every example is a process of its own: what other tests have compiled does not count."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def nothing_compiled_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    utils = sys.modules.get("torch._dynamo.utils")
    if utils is not None:
        from collections import Counter, defaultdict

        monkeypatch.setattr(utils, "counters", defaultdict(Counter))
