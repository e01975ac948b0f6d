from __future__ import annotations

import copy
import json
from pathlib import Path

import msgspec
import pytest
import torch
from torch import nn

from stepscope.errors import UsageError
from stepscope.inspect.diff import diff
from stepscope.inspect.step import Step
from stepscope.inspect.summary import summary
from stepscope.records.step import StepRecord


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def test_equal_things_do_not_differ(step: Step, tmp_path: Path) -> None:
    assert not diff(net(), net())
    assert not diff(step, step.record)
    torch.save(net().state_dict(), tmp_path / "a.pt")
    assert str(diff(tmp_path / "a.pt", net())) == "a.pt -> Sequential: no difference in 4 compared"


def test_moved_weights_say_how_far(tmp_path: Path) -> None:
    before = net()
    after = copy.deepcopy(before)
    with torch.no_grad():
        after[0].weight.mul_(1.5)
    (change,) = diff(before, after).changes
    assert (change.about, change.kind, change.name) == ("tensor", "changed", "0.weight")
    assert change.details["relative"] == pytest.approx(0.5)
    assert change.details["cosine"] == pytest.approx(1.0)
    assert change.details["max_abs"] == pytest.approx(before[0].weight.detach().abs().max().item() / 2)


def test_added_removed_and_changed_modules_are_told() -> None:
    before, after = net(), net()
    after[2] = nn.Linear(8, 3)
    after.append(nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
    found = diff(before, after)
    told = {(change.kind, change.name) for change in found.about("module")}
    assert told == {("changed", "2"), ("added", "3")}
    assert next(c for c in found.about("module") if c.kind == "added").details == {"parameters": 12, "modules": 3}
    assert ("changed", "2.weight") in {(change.kind, change.name) for change in found.about("tensor")}
    assert (
        "~ module 2  Linear(in_features=8, out_features=2, bias=True) -> Linear(in_features=8, out_features=3"
        in str(found)
    )


def test_a_block_that_moved_is_renamed_not_replaced() -> None:
    class Named(nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            setattr(self, name, nn.Sequential(nn.Linear(2, 2), nn.ReLU()))

    changes = diff(Named("encoder"), Named("trunk")).about("module")
    assert [(c.kind, c.before, c.after) for c in changes] == [("renamed", "encoder", "trunk")]


def test_frozen_parts_and_modes_are_told() -> None:
    before, after = net(), net().eval()
    after[0].requires_grad_(False)
    lines = str(diff(before, after))
    assert "~ module 0  40 trainable -> 0 trainable" in lines
    assert "training mode -> evaluation mode" in lines


def test_state_dicts_with_other_dtypes_and_bad_values() -> None:
    before = {"a": torch.ones(3), "b": torch.ones(2)}
    after = {"a": torch.ones(3, dtype=torch.float16), "b": torch.tensor([1.0, float("nan")]), "c": torch.ones(1)}
    found = {change.name: change for change in diff(before, after).changes}
    assert (found["a"].before, found["a"].after) == ("3 float32", "3 float16")
    assert found["b"].details["not_finite"] == 1
    assert found["c"].kind == "added"


def test_steps_differ_by_ops_arguments_shapes_and_cost(record: StepRecord) -> None:
    ops = list(record.ops)
    ops[2] = msgspec.structs.replace(ops[2], name="linear")
    ops[0] = msgspec.structs.replace(ops[0], args={"bias": True})
    after = msgspec.structs.replace(record, ops=tuple(ops[:-1]))
    found = diff(Step(record), Step(after))
    told = [(change.kind, change.name.split(" (")[0]) for change in found.about("op")]
    assert told == [("changed", "0 linear"), ("removed", "2 mystery"), ("added", "2 linear"), ("removed", "6 add_")]
    assert [change.name for change in found.about("cost")] == ["ops"]


def test_recorded_models_of_other_batch_sizes_differ_in_shapes_only() -> None:
    found = diff(summary(net(), input_size=(1, 4)), summary(net(), input_size=(2, 4)))
    assert {change.kind for change in found.about("op")} == {"changed"}
    assert found.about("op")[0].after == "2×8"
    flops = next(change for change in found.about("cost") if change.name == "flops")
    assert flops.details["ratio"] == pytest.approx(2)


def test_it_goes_to_json_and_saved_steps_can_be_named(step: Step, record: StepRecord, tmp_path: Path) -> None:
    step.save(tmp_path / "a.step")
    Step(msgspec.structs.replace(record, ops=record.ops[:3])).save(tmp_path / "b.step")
    found = diff(tmp_path / "a.step", tmp_path / "b.step")
    read = json.loads(found.to_json(tmp_path / "d.json"))
    assert read["before"] == "a.step"
    assert len(read["changes"]) == len(found)


def test_things_that_cannot_be_compared_say_so(step: Step) -> None:
    with pytest.raises(UsageError, match="cannot compare a step with a model"):
        diff(step, net())
    with pytest.raises(UsageError, match="cannot compare int objects"):
        diff(1, 2)


def test_what_the_modules_tell_is_not_told_again_for_each_tensor() -> None:
    class Named(nn.Module):
        def __init__(self, name: str, more: bool) -> None:
            super().__init__()
            setattr(self, name, nn.Linear(3, 3))
            if more:
                self.more = nn.Linear(3, 3)

    before, after = Named("mid", False), Named("bottleneck", True)
    after.bottleneck.load_state_dict(before.mid.state_dict())  # type: ignore[union-attr,operator]
    assert [(change.about, change.kind) for change in diff(before, after).changes] == [
        ("module", "renamed"),
        ("module", "added"),
    ]
    with torch.no_grad():
        after.bottleneck.bias.add_(1)  # type: ignore[union-attr,operator]
    (change,) = diff(before, after).about("tensor")
    assert (change.kind, change.name) == ("changed", "bottleneck.bias")


def test_another_batch_size_is_one_line() -> None:
    deep = nn.Sequential(*(nn.Linear(4, 4) for _ in range(8)))
    text = str(diff(summary(deep, input_size=(2, 4)), summary(deep, input_size=(6, 4))))
    assert "  ~ 8 ops differ only in a size, 2 -> 6; first 0 linear (forward) in 0  2×4 -> 6×4" in text.split("\n")
    assert "flops  512 -> 1,536  (×3)" in text
