"""Earlier step measurements, per machine: a JSON file beside the tests, compared with and updated on request.

Times are not comparable between machines, so each has its own. Measured in the process that runs a test, written by
the process that ends the session: with xdist these differ.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stepscope.errors import BadData, StorageError
from stepscope.files.opening import read_file

NAME = ".stepscope-baseline.json"
_VERSION = 1
_LARGEST = 64 << 20


@dataclass(frozen=True)
class Measured:
    """The measurements of one test's step on one machine."""

    file: str
    test: str
    machine: dict[str, Any]
    ms: list[float]
    """Of each timed call."""
    reference_ms: float
    """Time of a fixed computation meanwhile, to distinguish a slower step from a busier machine."""
    peak_bytes: int


def machine_key(machine: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(machine), sort_keys=True).encode()).hexdigest()[:12]


def known(file: Path, test: str, machine: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The baseline of a test on this machine; without one, the reason."""
    whole = _read(file)
    here = whole["machines"].get(machine_key(machine))
    found = None if here is None else here.get("tests", {}).get(test)
    if found is not None:
        if not _is_row(found):
            raise BadData(
                f"{file}: its entry for {test!r} is not from Stepscope; renew it with --stepscope-update-baseline"
            )
        return found, ""
    others = sum(test in one.get("tests", {}) for one in whole["machines"].values())
    if others:
        return None, "its baseline was made on another machine; nothing was compared"
    return None, "it has no baseline yet; nothing was compared"


def _is_row(found: Any) -> bool:
    times = found.get("ms") if isinstance(found, dict) else None
    numbers = (
        [*times, found.get("reference_ms"), found.get("peak_bytes")] if isinstance(times, list) and times else ["no"]
    )
    return all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in numbers)


def _read(file: Path) -> dict[str, Any]:
    try:
        whole = json.loads(read_file(file, _LARGEST))
    except FileNotFoundError:
        return {"version": _VERSION, "machines": {}}
    except (OSError, ValueError) as fault:
        raise BadData(f"{file} cannot be read as baselines ({fault}); fix it, or delete it and recreate it") from None
    machines = whole.get("machines") if isinstance(whole, dict) else None
    if not isinstance(machines, dict) or not all(isinstance(one, dict) for one in machines.values()):
        raise BadData(f"{file} has no Stepscope baselines; delete it and recreate it with --stepscope-update-baseline")
    if whole.get("version", 0) > _VERSION:
        raise BadData(f"{file} was written by a newer version of Stepscope; update this one, or delete the file")
    found: dict[str, Any] = whole
    return found


class Baselines:
    """All measurements of a session, and the messages about them."""

    def __init__(self) -> None:
        self._new: list[Measured] = []
        self._notes: dict[str, list[str]] = {}
        self._written: list[str] = []

    def take(self, text: str) -> None:
        self._new.append(Measured(**json.loads(text)))

    def note(self, test: str, words: str) -> None:
        self._notes.setdefault(words, []).append(test)

    def write(self) -> None:
        """Add the measurements to the files; entries of other tests and machines are kept."""
        for file in dict.fromkeys(one.file for one in self._new):
            path = Path(file)
            whole = _read(path)
            for one in (each for each in self._new if each.file == file):
                _put(whole, one)
            _replace(path, json.dumps(whole, indent=1, sort_keys=True) + "\n")
            count = sum(one.file == file for one in self._new)
            self._written.append(f"baseline of {count} test{'s' * (count != 1)} written to {_shown(path)}")
        self._new = []

    def summary(self) -> list[str]:
        lines = self._written
        for words, tests in self._notes.items():
            lines = [*lines, *(f"{test}: {words}" for test in tests[:10])]
            if len(tests) > 10:
                lines.append(f"and {len(tests) - 10} more")
        if any("--stepscope" not in words for words in self._notes):
            lines = [*lines, "pytest --stepscope-update-baseline makes the baselines of this machine"]
        return lines


def _put(whole: dict[str, Any], one: Measured) -> None:
    machine = whole["machines"].setdefault(machine_key(one.machine), {})
    machine["machine"] = one.machine
    kept = asdict(one)
    row = {name: kept[name] for name in ("ms", "reference_ms", "peak_bytes")}
    machine.setdefault("tests", {})[one.test] = {**row, "made": time.strftime("%Y-%m-%d")}


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as fault:
        raise StorageError(
            f"{path} could not be written: {fault.strerror or fault}; choose another file with --stepscope-baseline"
        ) from None


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


shelf = Baselines()
"""The session's own: pytest's hooks are functions, and there is one session per process."""
