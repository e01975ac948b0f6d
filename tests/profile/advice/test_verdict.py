"""The verdict: one headline, advice in order of what it saves, and nothing promised twice."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.diagnose.rule import Rule
from stepscope.diagnose.settings import Settings
from stepscope.profile.advice import engine
from stepscope.profile.advice.engine import advise
from stepscope.profile.advice.headline import headline
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip
from stepscope.profile.advice.verdict import Verdict, verdict
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.read import read_trace
from stepscope.records.profile import ProfileMeta

ROOT = Path(__file__).parents[3]
_spec = importlib.util.spec_from_file_location("made_traces", Path(__file__).with_name("made_traces.py"))
assert _spec is not None
assert _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)


class Told(Profile):
    def __init__(self, facts: dict[str, Any], gpu: Any = None) -> None:
        table = Builder().events() if gpu is None else gpu.events()
        super().__init__(ProfileMeta(id="made", kind="opened", created=0.0), tables={0: table})
        self._facts = facts

    def facts(self, rank: int = 0) -> dict[str, Any]:
        return self._facts


def steps(wall: float, data: float = 0.0, optimizer: float = 0.0) -> dict[str, Any]:
    ns = {"wall_ns": wall, "data_ns": data, "optimizer_ns": optimizer, "zero_grad_ns": 0.0}
    return {"steps": {"count": 50, **{key: int(value * 1e6) for key, value in ns.items()}}}


def busy(*ops: tuple[str, str, float], step: float = 10, data: float = 0.0, wait: float = 0.0) -> Any:
    gpu = made.Gpu(step=step)
    if data:
        gpu.data(data)
    for name, kernel, ms in ops:
        gpu.op(name, kernel, ms)
    if wait:
        gpu.call("cudaStreamSynchronize", wait)
    return gpu


GEMM, NCCL = ("aten::mm", "ampere_bf16_s16816gemm", 9.0), ("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum", 5.0)


@pytest.mark.parametrize(
    ("facts", "gpu", "kind", "text"),
    [
        (steps(49, data=41), None, "input", "84% of each step is spent waiting for data (41 ms of 49 ms)"),
        (steps(10, optimizer=4), None, "optimizer", "40% of each step is the optimizer (4.0 ms of 10 ms)"),
        (steps(10), None, "even", "nothing stands out: a step takes 10 ms"),
        ({}, None, "none", "no training step was seen, so its speed is unknown"),
        ({}, busy(GEMM), "compute", "the GPU computes 90% of each step (9.0 ms of 10 ms); most of it is gemm (100%)"),
        ({}, busy((*GEMM[:2], 2.0)), "host", "the GPU is idle 80% of each step (8.0 ms of 10 ms): the host is busy"),
        ({}, busy((*GEMM[:2], 4.0), wait=5), "sync", "the GPU is idle 60% of each step (6.0 ms of 10 ms): the host"),
        ({}, busy((*GEMM[:2], 4.5), NCCL), "communication", "50% of each step the GPU only exchanges data (5.0 ms of"),
        (steps(10), busy(GEMM, step=30), "compute", "the GPU computes 90% of each step (9.0 ms of 10 ms)"),
        ({}, busy((*GEMM[:2], 2.0), data=7), "input", "70% of each step is spent waiting for data (7.0 ms of 10 ms)"),
    ],
)  # fmt: skip
def test_names_what_training_is_bound_by(facts: dict[str, Any], gpu: Any, kind: str, text: str) -> None:
    found = headline(Measured(Told(facts, gpu)))
    assert (found.kind, found.text[: len(text)]) == (kind, text)


# -- the engine -------------------------------------------------------------------------------------------------------


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have these tips and no others."""

    def install(*tips: tuple[str, Tip], device: Any = "any") -> dict[str, Rule]:
        made_up = {
            id: Rule(id, "warning", "profile", lambda run, tip=tip: iter([tip]), device=device)  # type: ignore[misc]
            for id, tip in tips
        }
        monkeypatch.setattr(engine, "rules_for", lambda needs: made_up)
        return made_up

    return install


def tip(saving_ms: float, *, part: str = "", share: float = 1.0, where: Any = None, **more: Any) -> Tip:
    ns = int(saving_ms * 1e6)
    return Tip(where=where, message="something", fix="do it", share=share, saving_ns=ns, part=part, **more)


def told(facts: dict[str, Any], settings: Settings | None = None) -> list[tuple[str, float]]:
    return [(one.finding.rule, one.counted_ns / 1e6) for one in advise(Measured(Told(facts)), settings)]


def test_the_largest_saving_comes_first_and_small_ones_not_at_all(only: Any) -> None:
    only(("perf.a", tip(1)), ("perf.b", tip(6)), ("perf.c", tip(0.1)))
    assert told(steps(10)) == [("perf.b", 6.0), ("perf.a", 1.0)]


def test_two_tips_about_the_same_part_save_no_more_than_the_part(only: Any) -> None:
    only(("perf.a", tip(5, part="data", share=0.6)), ("perf.b", tip(4, part="data", share=0.6)))
    assert told(steps(10)) == [("perf.a", 5.0), ("perf.b", 1.0)]
    found = verdict(Told(steps(10)))
    assert found.findings[1].evidence["shares_with"] == "perf.a"


def test_all_together_save_less_than_the_step(only: Any) -> None:
    only(("perf.a", tip(9)), ("perf.b", tip(8)), ("perf.c", tip(50)))
    found = verdict(Told(steps(10)))
    assert found.saving_ns <= found.step_ns
    assert sum(one.counted_ns for one in found.advised) <= found.step_ns


def test_a_device_guard_keeps_advice_from_other_devices(only: Any) -> None:
    only(("perf.a", tip(5)), device="cuda")
    assert told(steps(10)) == []
    assert told({**steps(10), "device": {"kind": "cuda"}, "models": [{"devices": ["cuda"]}]}) == [("perf.a", 5.0)]


def test_advice_that_was_silenced_is_not_given(only: Any) -> None:
    only(("perf.a", tip(5)), ("perf.b", tip(4)))
    assert told(steps(10), Settings(ignore=("perf.a",))) == [("perf.b", 4.0)]


def test_a_comment_at_the_line_silences_a_rule_over_profiles(only: Any, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("a = 1\nloader = DataLoader(data)  # stepscope: ignore[perf.a]\n")
    only(("perf.a", tip(5, where=(str(script), 2))), ("perf.b", tip(4, where=(str(script), 2))))
    assert told(steps(10), Settings()) == [("perf.b", 4.0)]


def test_a_finding_explains_the_tips_that_follow_it(only: Any) -> None:
    rules = only(("perf.a", tip(5)), ("perf.b", tip(4)))
    rules["perf.a"] = replace(rules["perf.a"], follows=("perf.b",))
    assert told(steps(10)) == [("perf.b", 4.0)]


def test_a_fault_in_one_piece_of_advice_costs_only_that_one(only: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(run: Measured) -> Iterator[Tip]:
        raise ZeroDivisionError
        yield

    only(("perf.a", tip(5)))["perf.broken"] = Rule("perf.broken", "warning", "profile", broken)
    assert told(steps(10)) == [("perf.a", 5.0)]
    assert "perf.broken failed and was skipped" in capsys.readouterr().err


# -- the text ---------------------------------------------------------------------------------------------------------


def test_reads_as_a_person_would_say_it(only: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("a = 1\nloader = DataLoader(data)\n")
    where = (str(tmp_path / "train.py"), 2)
    only(
        ("perf.a", tip(31, where=where, part="data")),
        ("perf.b", tip(22, part="data", evidence={"measured": {"gain": 3.1, "steps": 180, "noise": 0.04}})),
    )
    assert verdict(Told(steps(49, data=41))).text(root=tmp_path) == (
        "84% of each step is spent waiting for data (41 ms of 49 ms)\n"
        "  1  train.py:2  something\n"
        "                 do it: saves about 31 ms a step (2.7x; estimated, 1.5x to 6.9x)\n"
        "  2              something\n"
        "                 do it: 3.1x, measured on 180 steps (3.0x to 3.2x)\n"
        "together: a step of about 11 ms instead of 49 ms (4.3x)\n"
        "stepscope explain perf.a explains the first"
    )


def test_fits_the_width_and_has_colour_only_when_asked(only: Any, tmp_path: Path) -> None:
    only(("perf.a", tip(31, where=(str(tmp_path / "a_rather_long_name_of_a_script.py"), 234))))
    found = verdict(Told(steps(49, data=41)))
    assert max(map(len, found.text(width=60, root=tmp_path).splitlines())) <= 60
    assert "\x1b" not in found.text()
    assert "\x1b[1m" in found.text(color=True)


def test_findings_carry_share_saving_and_source(only: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("a = 1\nloader = DataLoader(data)\n")
    only(("perf.a", tip(31, where=(str(tmp_path / "train.py"), 2), share=0.8, how="by hand")))
    (finding,) = verdict(Told(steps(49, data=41))).findings
    assert (finding.rule, finding.severity, finding.line) == ("perf.a", "warning", 2)
    assert finding.evidence == {"share": 0.8, "saving_ms": 31.0, "saving_share": 0.633, "how": "by hand",
                                "basis": "estimated", "gain_range": [1.534, 5.0]}  # fmt: skip
    assert (2, "loader = DataLoader(data)") in finding.source


@pytest.mark.parametrize(
    ("name", "kind", "rules"),
    [
        ("h200_plain", "launch", {"perf.launch-bound"}),
        ("two_ranks_rank0", "communication", {"perf.exposed-communication", "perf.launch-bound"}),
    ],
)
def test_real_traces_get_a_verdict_without_facts(name: str, kind: str, rules: set[str]) -> None:
    events = read_trace(ROOT / "tests/samples/traces" / f"{name}.json.gz", cache=False)
    found = verdict(Profile.of_events({0: events}))
    assert found.headline.kind == kind
    assert {one.rule for one in found.findings} == rules
    assert 0 <= found.saving_ns < found.step_ns
    assert all(one.evidence["gain_range"][1] > 1 for one in found.findings)


# -- one training on an H200, slow and fast -----------------------------------------------------------------------

PLANTED = {
    "perf.made-on-host": 37,
    "perf.pageable-copies": 26,
    "perf.copied-every-step": 38,
    "perf.sync-every-step": 42,
    "perf.tensor-loop": 46,
    "perf.optimizer-loop": 27,
    "perf.workers-restarted": 26,
    "perf.conv-bias-before-norm": None,
    "perf.channels-first": 16,
}


def recorded(name: str) -> Verdict:
    folder = ROOT / "tests/samples/advice"
    profile = Told(json.loads((folder / f"{name}.facts.json").read_text()))
    profile._tables[0] = read_trace(folder / f"{name}.json.gz", cache=False)
    return verdict(profile)


def test_finds_what_was_planted_with_its_lines() -> None:
    found = {one.rule: one.line for one in reversed(recorded("slow").findings)}
    assert {rule: found.get(rule, "not found") for rule in PLANTED} == PLANTED


def test_says_nothing_of_it_once_it_is_mended() -> None:
    said = {one.rule for one in recorded("fast").findings}
    assert said & set(PLANTED) == set()
    assert said <= {"perf.launch-bound", "perf.small-batch", "perf.not-compiled"}


def test_promises_no_more_than_mending_really_gave() -> None:
    slow, fast = recorded("slow"), recorded("fast")
    promised = slow.step_ns / (slow.step_ns - slow.saving_ns)
    really = slow.step_ns / fast.step_ns
    assert 0.5 * really < promised < 1.2 * really


# -- facts that somebody else has written -----------------------------------------------------------------------------


def test_a_damaged_file_of_facts_costs_only_the_facts(tmp_path: Path) -> None:
    folder = tmp_path / "p0001"
    folder.mkdir()
    (folder / "profile.json").write_bytes(msgspec.json.encode(ProfileMeta(id="p0001", kind="simple", created=0.0)))
    (folder / "rank0.facts.json").write_bytes(b'{"steps": {"wall_ns": 1')
    found = verdict(Profile.load(folder))
    assert found.findings == []
    assert any("cannot be read" in note for note in found.notes)


def test_a_damaged_trace_is_said_once_and_not_by_every_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "p0001"
    folder.mkdir()
    (folder / "profile.json").write_bytes(msgspec.json.encode(ProfileMeta(id="p0001", kind="pytorch", created=0.0)))
    (folder / "rank0.events").write_bytes(b"SSEVENTS of another age")
    found = verdict(Profile.load(folder))
    assert "the profile is damaged" in found.headline.text
    assert [note.split(",")[0] for note in found.notes] == ["the trace of rank 0 cannot be read"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("odd", [None, [], "x", -1, {"a": []}, [[]], [{}], 1e308])
def test_facts_of_the_wrong_shape_end_nothing(odd: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for key in (
        "loaders",
        "calls",
        "device",
        "amp",
        "models",
        "optimizers",
        "memory",
        "look",
        "flags",
        "cpu",
        "compile",
    ):
        verdict(Told({**steps(49, data=41), key: odd}))
    assert isinstance(verdict(Told({"steps": odd} if odd is not None else {})), Verdict)
