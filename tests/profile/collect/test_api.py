"""`with stepscope.profile() as p:` and `p.step()`: what is recorded, where it goes, what can be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

import stepscope
from stepscope.errors import NotFound, UsageError
from stepscope.profile.profile import Profile, profiles_in
from stepscope.records.profile import Sheet


class Training:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.model(torch.randn(4, 8)).square().mean().backward()
        self.optimizer.step()

    @property
    def weights(self) -> list[float]:
        return [value for parameter in self.model.parameters() for value in parameter.detach().flatten().tolist()]


def steps_of(profile: Profile) -> list[int]:
    trace = profile.trace()
    assert trace is not None
    return [step.number for step in trace.steps]


def test_a_block_is_recorded_step_by_step() -> None:
    training = Training()
    with stepscope.profile() as p:
        for _ in range(3):
            training.step()
    assert steps_of(p.result) == [0, 1, 2]
    assert (p.result.meta.first_step, p.result.meta.last_step) == (0, 2)
    rows = {row[0]: row for row in p.sheet("operators").rows}
    calls = [column.key for column in p.sheet("operators").columns].index("calls")
    assert rows["aten::linear"][calls] == 6
    assert str(p.verdict()) == str(p)
    assert p.table(sort_by="calls", row_limit=2).splitlines()[0] == "Operators"
    assert isinstance(p.sheet("modules"), Sheet)
    assert any("Sequential" in str(row[0]) for row in p.sheet("modules").rows)


def test_training_is_untouched() -> None:
    plain, profiled = Training(), Training()
    torch.manual_seed(1)
    for _ in range(3):
        plain.step()
    after = torch.rand(1).item()
    torch.manual_seed(1)
    with stepscope.profile():
        for _ in range(3):
            profiled.step()
    assert torch.rand(1).item() == after
    assert profiled.weights == plain.weights


@pytest.mark.parametrize("make", [stepscope.profile.schedule, torch.profiler.schedule])
def test_a_schedule_picks_steps(make: object) -> None:
    training, ready = Training(), []
    plan = make(wait=1, warmup=1, active=2, repeat=2)  # type: ignore[operator]
    with stepscope.profile(schedule=plan, with_stack=False, on_ready=lambda p: ready.append(steps_of(p.result))) as p:
        for _ in range(10):
            training.step()
            p.step()
    assert ready == [[2, 3], [6, 7]]
    assert len(p.profiles) == 2


def test_own_steps_win_over_the_optimizers() -> None:
    training = Training()
    with stepscope.profile(with_stack=False, profile_memory=False) as p:
        for _ in range(2):
            p.step()
            training.step()
            training.step()
    assert steps_of(p.result) == [0, 1]


def test_in_a_run_it_goes_to_the_run(store: Path) -> None:
    with stepscope.init(dir=store, console=False, system=False, git=False) as run:
        with stepscope.profile(with_stack=False) as p:
            Training().step()
        assert run.path is not None
        assert p.profiles == profiles_in(run.path)
        assert p.result.meta.why == "with stepscope.profile(...)"
        names = {path.name for path in p.profiles[0].iterdir()}
    assert {"profile.json", "rank0.events", "rank0.trace.json.gz", "rank0.facts.json"} <= names


def test_a_path_keeps_it(tmp_path: Path) -> None:
    with stepscope.profile(tmp_path / "kept", with_stack=False) as p:
        Training().step()
    assert p.profiles == [tmp_path / "kept"]
    assert Profile.load(tmp_path / "kept").trace() is not None
    with pytest.raises(UsageError, match="there already"), stepscope.profile(tmp_path / "kept"):
        pass


def test_without_a_place_it_lives_as_long_as_the_object() -> None:
    with stepscope.profile(with_stack=False) as p:
        Training().step()
    folder = p.profiles[0]
    assert folder.exists()
    del p
    assert not folder.exists()


def test_calls_are_counted_on_request(tmp_path: Path) -> None:
    training = Training()
    with stepscope.profile(profiler="advanced") as p:
        for _ in range(3):
            training.step()
    rows = p.sheet("python-profile-functions").rows
    assert any(row[0] == "step" and 3 in row for row in rows)
    (made,) = p.export("prof", tmp_path / "run.prof")
    assert made.exists()


def test_exports_are_for_other_tools(tmp_path: Path) -> None:
    with stepscope.profile(with_stack=False) as p:
        Training().step()
    p.export("chrome", tmp_path / "trace.json")
    names = {event.get("name") for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert "aten::linear" in names
    assert (tmp_path / "tables" / "operators.csv") in p.export("csv", tmp_path / "tables")


def test_one_at_a_time() -> None:
    with stepscope.profile(with_stack=False), pytest.raises(UsageError, match="one at a time"), stepscope.profile():
        pass
    with stepscope.profile(with_stack=False):  # the refused one has left nothing behind
        pass


def test_not_beside_torchs_own() -> None:
    with (
        torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]),
        pytest.raises(UsageError, match=r"torch\.profiler is at work"),
        stepscope.profile(),
    ):
        pass


def test_an_error_in_the_block_comes_out_and_the_profile_stays() -> None:
    p, training = stepscope.profile(with_stack=False), Training()

    def fails() -> None:
        with p:
            training.step()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert steps_of(p.result) == [0]


def test_questions_too_early_or_in_vain_are_answered_clearly() -> None:
    p = stepscope.profile()
    with pytest.raises(NotFound, match="never entered"):
        p.verdict()
    with pytest.raises(UsageError, match="inside the with block"):
        p.step()
    with stepscope.profile(schedule=stepscope.profile.schedule(wait=5, warmup=0, active=1)) as p:
        Training().step()
        with pytest.raises(NotFound, match="nothing is recorded yet"):
            p.verdict()
    with pytest.raises(NotFound, match=r"call p\.step\(\)"):
        p.verdict()
    with pytest.raises(UsageError, match="'simple' is not known"):
        stepscope.profile(profiler="simple")
    with stepscope.profile(with_stack=False) as p:
        Training().step()
    with pytest.raises(NotFound, match="no column 'nonsense'"):
        p.sheet("operators", sort="nonsense")
