"""Every rule for stored runs is held to its examples: `tests/diagnose/rules/run/<rule>.md`.

A block writes a run with `run.log(...)`, `run.config.update(...)`, `log_at(time, ...)`, `printed(text)` and
`end(error)`. Under `## Buggy: ...` the rule must find something, and no other rule may at warning or above; under
`## Healthy: ...` no rule may.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.diagnose.rules.test_examples import EVERY, asked_of

from stepscope.diagnose.hangs import FILE, FOLDER
from stepscope.diagnose.rule import rules_for
from stepscope.diagnose.stored.engine import Diagnosis, diagnose_run
from stepscope.records import ConfigUpdate, Console, Coverage, End, RunMeta
from stepscope.records.hang import Hang, RankState
from stepscope.records.run import Finding, FindingEvent
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter

EXAMPLES = [example for example in EVERY if asked_of(example, "stored")]


class Written:
    """A run as `stepscope.init` would leave it, written by the real writer."""

    def __init__(self, store: Path) -> None:
        meta = RunMeta(id=new_run_id(), project="p", name="r", created=time.time())
        self.path = create_run(store, meta)
        self.writer = RunWriter(self.path, run_id=meta.id, heartbeat_s=0, fsync_s=0)
        self.step = 0
        self.config: Any = self
        self.ending = End(time=time.time(), status="finished")

    def log(self, values: dict[str, float]) -> None:
        self.writer.wide(self.step, values)
        self.step += 1

    def log_at(self, when: float, values: dict[str, float]) -> None:
        self.writer.wide(self.step, values, at=when)
        self.step += 1

    def update(self, values: dict[str, Any]) -> None:
        self.writer.event(ConfigUpdate(time=time.time(), values=values))

    def printed(self, text: str) -> None:
        self.writer.console(Console(time=time.time(), stream="stderr", text=text))

    def end(self, error: BaseException) -> None:
        said = "".join(traceback.format_exception(error))
        status: Any = "stopped" if isinstance(error, KeyboardInterrupt) else "failed"
        self.ending = End(time=time.time(), status=status, error=repr(error), traceback=said)

    def diagnose(self) -> Diagnosis:
        self.writer.close(self.ending)
        return diagnose_run(open_run(self.path))


@pytest.fixture
def written(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    monkeypatch.chdir(tmp_path)
    return Written(store)


@pytest.fixture
def diagnose_code(written: Written) -> Callable[[str], Diagnosis]:
    def run(code: str) -> Diagnosis:
        exec(code, {"run": written, "log_at": written.log_at, "printed": written.printed, "end": written.end})
        return written.diagnose()

    return run


def _id(example: tuple[str, str, str]) -> str:
    return f"{example[0]}: {example[1]}"


@pytest.mark.parametrize("example", [one for one in EXAMPLES if one[1].startswith("Buggy")], ids=_id)
def test_finds_what_is_wrong(diagnose_code: Callable[[str], Diagnosis], example: tuple[str, str, str]) -> None:
    rule, head, code = example
    found = diagnose_code(code).stored
    mine = [one for one in found if one.rule == rule]
    said = [(one.rule, one.severity, one.message) for one in found]
    assert mine, f"{rule} found nothing; findings: {said}"
    assert ("info" in head.split(":")[0]) == all(one.severity == "info" for one in mine), said
    assert not [one for one in said if one[0] != rule and one[1] != "info"], said


@pytest.mark.parametrize("example", [one for one in EXAMPLES if one[1].startswith("Healthy")], ids=_id)
def test_lets_pass_what_is_right(diagnose_code: Callable[[str], Diagnosis], example: tuple[str, str, str]) -> None:
    found = diagnose_code(example[2]).stored
    assert not found, [(one.rule, one.severity, one.message) for one in found]


def test_a_crash_is_placed_on_the_users_own_line(diagnose_code: Callable[[str], Diagnosis]) -> None:
    code = next(code for rule, head, code in EXAMPLES if rule == "run.crashed" and head.startswith("Buggy"))
    (finding,) = diagnose_code(code).stored
    assert (Path(finding.file or "").name, finding.line) == ("model.py", 2)
    assert finding.message.startswith("two tensors do not fit: RuntimeError: mat1 and mat2")


def test_what_was_looked_at_is_reported(written: Written) -> None:
    empty = Written(written.path.parent)
    assert empty.diagnose() == Diagnosis([], [], [], watched=False)
    written.log({"loss": 1.0, "acc": 0.5, "speed": 3.0, "system/cpu_percent": 5.0})
    written.update({"lr": 0.1})
    written.printed("hello\n")
    found = written.diagnose()
    assert found.looked_at == ["2 losses and metrics", "the console", "the config", "the system metrics"]


def test_a_finding_of_the_watched_run_explains_those_of_the_folder(written: Written) -> None:
    for step in range(50):
        written.log({"loss": 1.0 if step < 10 else float("nan")})
    live = Finding(rule="num.log-zero", severity="error", message="log of zero")
    written.writer.event(FindingEvent(time=time.time(), finding=live))
    written.writer.event(Coverage(time=time.time(), closely=[(1, 40)], steps=50))
    found = written.diagnose()
    assert [one.rule for one in found.findings] == ["num.log-zero"]
    assert found.watched


def test_a_run_that_was_killed_after_a_live_finding_was_watched(written: Written) -> None:
    for step in range(50):
        written.log({"loss": 1.0 if step < 10 else float("nan")})
    live = Finding(rule="num.nan-loss-continues", severity="error", message="the loss is nan in step 10")
    written.writer.event(FindingEvent(time=time.time(), finding=live))
    found = written.diagnose()
    assert found.watched
    assert [one.rule for one in found.findings] == ["num.nan-loss-continues"]


@pytest.mark.parametrize(
    ("status", "is_sure", "severity"),
    [("finished", False, None), ("preempted", False, "info"), ("preempted", True, "error")],
)
def test_a_job_ended_while_its_ranks_waited_says_where(
    written: Written, status: Any, is_sure: bool, severity: str | None
) -> None:
    ranks = (RankState(rank=0, kind="collective", doing="barrier", file="/a/train.py", line=4), RankState(rank=1))
    (written.path / FOLDER).mkdir()
    (written.path / FOLDER / FILE).write_bytes(
        msgspec.json.encode(Hang(time=0.0, ranks=ranks, idle_s=25.0, is_sure=is_sure))
    )
    written.ending = End(time=time.time(), status=status)
    findings = written.diagnose().findings
    assert [(one.rule, one.severity, one.line) for one in findings] == ([("run.hang", severity, 4)] if severity else [])


def test_rules_for_stored_runs_are_all_there_for_two_threads_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        counts = {len(found.result()) for found in [pool.submit(rules_for, "stored") for _ in range(8)]}
    assert counts == {len({rule for rule, _, _ in EXAMPLES})}
