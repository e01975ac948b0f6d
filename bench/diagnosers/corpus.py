"""The corpus of tests/corpus: its runner, and the fixed part of it that the peers are run on."""

from __future__ import annotations

import importlib.util
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
PAIRS = 40
"""How many scripts with a fault the peers get, each with its healthy twin."""
HEALTHY = 40
"""How many more healthy ones."""
NOT_FOR_PEERS = ("dist", "projects", "reported", "unseen")
"""Groups whose scripts start processes of their own, into which no hook of a peer reaches, or that came after the part
was fixed."""


def load_runner() -> ModuleType:
    """tests/corpus/runner.py, which is no package."""
    spec = importlib.util.spec_from_file_location("corpus_runner", ROOT / "tests" / "corpus" / "runner.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def sample(entries: list[Any], pairs: int = PAIRS, more: int = HEALTHY) -> list[Any]:
    """Always the same scripts: of each group its share, chosen by name alone; a fault comes with its twin."""
    faulty = [entry for entry in entries if entry.rule is not None and entry.group not in NOT_FOR_PEERS]
    groups: dict[str, list[Any]] = {}
    for entry in sorted(faulty, key=lambda entry: zlib.crc32(entry.script.encode())):
        groups.setdefault(entry.group, []).append(entry)
    chosen: list[Any] = []
    while len(chosen) < min(pairs, len(faulty)):
        # the group that is furthest from its share is next
        group = max(groups, key=lambda name: (_share(groups[name], faulty, chosen, name, pairs), name))
        chosen.append(groups[group].pop(0))
    by_name = {entry.script: entry for entry in entries}
    twins = [by_name[entry.twin] for entry in chosen if entry.twin in by_name]
    healthy = sorted((e for e in entries if e.group == "healthy"), key=lambda e: zlib.crc32(e.script.encode()))
    return sorted([*chosen, *twins, *healthy[:more]], key=lambda entry: entry.script)


def _share(left: list[Any], all_: list[Any], chosen: list[Any], group: str, pairs: int) -> float:
    if not left:
        return float("-inf")
    size = sum(entry.group == group for entry in all_)
    return size / len(all_) * pairs - sum(entry.group == group for entry in chosen)
