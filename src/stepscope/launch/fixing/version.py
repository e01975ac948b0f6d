"""One version of a script, run for some steps: `stepscope run` in a process of its own, and its result."""

from __future__ import annotations

import itertools
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.diagnose.outputs import json as json_output
from stepscope.records import Finding

_LOSS = "train/loss"
_GRACE_S = 20.0


@dataclass(frozen=True)
class Target:
    """What is run: a file or a module, with its arguments, from a folder."""

    name: str
    args: tuple[str, ...]
    cwd: Path
    is_module: bool = False


@dataclass(frozen=True)
class VersionRun:
    """What one version did."""

    findings: list[Finding]
    exit_code: int
    steps: int = 0
    losses: list[float] = field(default_factory=list)
    """One of each step."""
    metrics: dict[str, float] = field(default_factory=dict)
    """The last value of what the script printed or logged."""
    step_ms: float | None = None
    said: str = ""
    """The last line of its errors, where it did not end well."""
    timed_out: bool = False

    @property
    def loss(self) -> float | None:
        """At the end: the mean of the last tenth of its steps."""
        last = self.losses[-max(1, len(self.losses) // 10) :]
        return math.fsum(last) / len(last) if last and all(map(math.isfinite, last)) else (last[-1] if last else None)

    @property
    def crashed(self) -> bool:
        return self.exit_code != 0


def run_version(target: Target, scratch: Path, *, steps: int, seconds: float, select: Sequence[str] = ()) -> VersionRun:
    """Run it from the same seed as every other version, for at most this many steps and seconds; nothing is saved."""
    scratch.mkdir(parents=True)
    answer = scratch / "found.json"
    words = ["--quiet", "--no-save", "--deterministic", "--no-capsule", f"--max-steps={steps}"]
    words += [f"--dir={scratch / 'runs'}", f"--json={answer}", *(f"--select={one}" for one in select)]
    script = ["-m", target.name] if target.is_module else ["--", target.name]
    command = [sys.executable, "-m", "stepscope", "run", *words, *script, *target.args]
    with open(scratch / "errors", "wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=target.cwd,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        timed_out = not _ended(process, seconds)
    told = json_output.read(answer)
    code = process.returncode if not timed_out else 0
    numbers = _numbers(scratch / "runs")
    findings = [] if told is None else [_absolute(one, target.cwd) for one in told.findings]
    return VersionRun(
        findings=findings,
        exit_code=code,
        steps=told.scripts[0].steps if told is not None and told.scripts else len(numbers[0]),
        losses=numbers[0],
        metrics=numbers[1],
        step_ms=numbers[2],
        said=_last_line(scratch / "errors") if code else "",
        timed_out=timed_out,
    )


def _environment(known: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in known.items() if name not in ("STEPSCOPE_DIR", "STEPSCOPE_RUN_ID")}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it ended by itself. One that did not is asked to (it then says what it has found), and made to."""
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        for number in (signal.SIGINT, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(_GRACE_S)
                break
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        return False


def _absolute(finding: Finding, root: Path) -> Finding:
    from stepscope.diagnose.outputs.write_output import with_paths

    return with_paths(finding, lambda file: os.path.normpath(os.path.join(root, file)))


def _numbers(store: Path) -> tuple[list[float], dict[str, float], float | None]:
    """The losses by step, the last of each metric, and the milliseconds of a typical step, of the run in a store."""
    from stepscope.runs.format.layout import is_run_folder
    from stepscope.runs.read.folder import open_run

    folders = [one for one in sorted(store.glob("*")) if is_run_folder(one)] if store.exists() else []
    if not folders:
        return [], {}, None
    run = open_run(folders[0])
    names = run.metrics()
    losses = [float(one) for one in run.series(_LOSS).values] if _LOSS in names else []
    own = [name for name in names if not name.startswith(("train/", "time/", "speed/", "memory/", "system/"))]
    metrics = {name: float(run.series(name).values[-1]) for name in own if len(run.series(name))}
    fast = sorted(_turns(run.series(_LOSS).times.tolist())) if _LOSS in names else []
    return losses, metrics, fast[len(fast) // 5] * 1e3 if fast else None


def _last_line(errors: Path) -> str:
    lines = [line.strip() for line in errors.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _turns(times: Sequence[float]) -> list[float]:
    """The seconds between steps, without the first few, which warm up."""
    return [float(later - earlier) for earlier, later in itertools.pairwise(times)][3:]
