"""Asks the warm process to run a script in an arm, and says in which ways two runs of it differ."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
SECONDS = 45.0
"""For one script in one arm, with a machine that does much else."""
BARE = "# untouched: without dynamo"
"""The first line of scripts that never make an optimizer: they run where dynamo was not imported."""
ONLY = "# untouched: only "
"""The first or second line of a slow script: the arms it runs in, with commas."""
KNOWN = re.compile(r"# untouched: known in ([\w, ]+): (.+)")
"""A header line: the arms in which the script is known to differ, and why that is so."""

# A line of ours on stderr: a notice, a finding as compilers print them, or a part of the verdict of `check`.
# A fault of ours ("failed and was skipped") is not to be there.
_OURS = re.compile(
    r"^(stepscope\b(?!.*failed and was skipped)|\S+:\d+(:\d+(-\d+)?)?: (error|warning|info|note|hint)\b"
    r"|  (tried|passed|suspicious|not checked|hints|watched)\b| {15}\S)"
)

_STORY = re.compile(r"^(what failed: |in the layer |the path through the layers:|tensors at )")
_CLOCKS = re.compile(
    r"^USDT:.*\n|(?<=^\[W)[\d:. ]+|(?<=^[IWE])\d{4} [\d:. ]+ \d+ (?=torch/)|(?<=^STAGE:|^ERROR:)[\d: -]+(?= \w+\.cpp)",
    re.MULTILINE,
)
"""In the messages of torch: the start of a profiler (`profile` starts one), times and process numbers."""


@dataclass
class Done:
    """How one run of a script ended, and what it left."""

    code: int | None
    cpu_s: float
    out: str
    err: str
    state: dict[str, Any] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    """The lines of Stepscope's findings, which may stand on stderr."""


class Zygote:
    """The warm process; started with the first script."""

    def __init__(self, folder: Path, source: Path | None = None) -> None:
        self.folder = folder
        self._source = source
        self._process: subprocess.Popen[str] | None = None

    def run(self, script: Path, arm: str) -> Done:
        """Run it in a fork, in an empty working directory that has the same name in every arm."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "work").mkdir(parents=True)
        bare = script.read_text().startswith(BARE)
        load = [*([] if bare else ["dynamo"]), *(["ours"] if arm != "plain" else [])]
        request = {"script": str(script), "arm": arm, "load": load, "folder": str(self.folder), "seconds": SECONDS}
        answer = self._ask(json.dumps(request))
        return Done(answer["code"], answer["cpu_s"], *read_back(self.folder))

    def _ask(self, line: str) -> Any:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "zygote.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment(self.folder, self._source),
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=SECONDS)


def arms_of(script: Path, every: Iterable[str]) -> list[str]:
    """The arms it runs in: all, unless it says that it is slow."""
    for line in script.read_text().splitlines()[:2]:
        if line.startswith(ONLY):
            return line.removeprefix(ONLY).split(", ")
    return list(every)


def known_in(script: Path) -> dict[str, str]:
    """The arms in which it is known to differ -> why."""
    found = (KNOWN.fullmatch(line) for line in script.read_text().splitlines()[:4])
    return {arm: line[2] for line in found if line is not None for arm in line[1].split(", ")}


def environment(folder: Path, source: Path | None = None) -> dict[str, str]:
    """A machine of its own: one thread, the same hashes every time, nothing of the developer's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "PYTEST", "PYTHON"))}
    own = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "120"}
    given = source or os.environ.get("UNTOUCHED_SOURCE")
    path = {"PYTHONPATH": str(given)} if given else {}
    return {**kept, **own, **path, "STEPSCOPE_CACHE": str(folder.parent / "cache")}


def read_back(folder: Path) -> tuple[str, str, dict[str, Any], set[str]]:
    """What lies in the folder of a run that has ended."""
    out, err = ((folder / name).read_bytes().decode(errors="backslashreplace") for name in ("out", "err"))
    state, found = folder / "state.json", folder / "found.json"
    said = set(_lines_in(json.loads(found.read_text()))) if found.exists() else set()
    return out, err, json.loads(state.read_text()) if state.exists() else {}, said


def _lines_in(value: Any) -> Iterator[str]:
    """Every line of every text in a document."""
    if isinstance(value, str):
        yield from (line.strip() for line in value.splitlines())
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _lines_in(one)


def differences(plain: Done, ours: Done, arm: str) -> list[str]:
    """Every way in which the second run is not the first, in words; none if a user could not tell them apart."""
    found = [] if plain.code == ours.code else [f"exit code {plain.code} became {ours.code}"]
    found += _stdout(plain.out, ours.out, arm)
    found += _stderr(plain.err, ours.err, plain.said | ours.said)
    if bool(plain.state) != bool(ours.state):
        return [*found, "nothing is known of its end"]
    for key in sorted({*plain.state, *ours.state}):
        was, now = plain.state.get(key, "absent"), ours.state.get(key, "absent")
        if was != now:
            found.append(f"{key}: {_short(was, now)}")
    return found


def _stdout(was: str, now: str, arm: str) -> list[str]:
    if arm == "profile":
        now = _without_report(was, now)
    if was == now:
        return []
    lines = difflib.unified_diff(was.splitlines(), now.splitlines(), "plain", arm, lineterm="", n=0)
    return ["stdout: " + " | ".join([line[:160] for line in lines if not line.startswith(("---", "+++", "@@"))][:12])]


def _without_report(was: str, now: str) -> str:
    """`profile` prints its verdict on stdout when the script is over; what `atexit` prints comes after it."""
    pairs = zip(was, now, strict=False)
    start = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(was), len(now)))
    rest = was[start:]
    if len(now) < len(was) or not now.endswith(rest):
        return now
    report = now[start : len(now) - len(rest)]
    return was if not report or "see it with: stepscope" in report or "stepscope" in report else now


def _stderr(was: str, now: str, said: set[str]) -> list[str]:
    """Lines that are missing, and lines that are neither the script's nor recognizably Stepscope's."""
    said = said - {line.strip() for line in was.splitlines()}  # a finding quotes the script, and so does a traceback
    old, new = (_script_lines(_CLOCKS.sub("", text), said) for text in (was, now))
    if old == new:
        return []
    lines = [line for line in difflib.ndiff(old, new) if line[:2] in ("- ", "+ ")]
    return ["stderr: " + " | ".join([line[:160] for line in lines][:12])]


def _script_lines(text: str, said: set[str]) -> list[str]:
    """Leave out our lines: findings and their further lines, the verdict, and what we tell of a crash."""
    kept, in_story = [], False
    for line in text.splitlines():
        in_story = bool(_STORY.match(line)) or (in_story and line.startswith("    "))
        if not in_story and line.strip() not in said and not _OURS.match(line):
            kept.append(line)
    return kept


def _short(was: Any, now: Any) -> str:
    if isinstance(was, list) and isinstance(now, list) and all(isinstance(one, str) for one in [*was, *now]):
        lost, more = _listed(set(was) - set(now)), _listed(set(now) - set(was))
        return f"without {lost}; also {more}"
    return f"{str(was)[:200]} became {str(now)[:200]}"


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:6]) + (f" and {len(ordered) - 6} more" if len(ordered) > 6 else "")
