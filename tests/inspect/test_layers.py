from __future__ import annotations

import csv
import io
import json

import pytest
import torch
from torch import nn

from stepscope.errors import UsageError
from stepscope.inspect.layer_times import middle_and_spread
from stepscope.inspect.layers import LayerProfile, profile_layers


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(), nn.Linear(32, 4))


def rows(profile: LayerProfile, kind: str) -> list[dict[str, str]]:
    return [row for row in csv.DictReader(io.StringIO(profile.to_csv())) if row["kind"] == kind]


@pytest.fixture(scope="module")
def profile() -> LayerProfile:
    model = net()
    return profile_layers(
        model,
        torch.randn(8, 16),
        torch.randint(0, 4, (8,)),
        optimizer=torch.optim.SGD(model.parameters(), 0.1, foreach=False),
        runs=5,
        warmup=1,
    )


def test_the_csv_has_the_documented_columns_in_order(profile: LayerProfile) -> None:
    assert profile.to_csv().split("\n")[0] == (
        "kind,module,type,op,phase,line,calls,input,output,params,flops,macs,forward_us,forward_spread_us,"
        "backward_us,backward_spread_us,update_us,update_spread_us,flops_per_s,runs"
    )


def test_every_layer_has_forward_backward_and_update(profile: LayerProfile) -> None:
    layers = {row["module"]: row for row in rows(profile, "layer")}
    assert list(layers) == ["", "0", "1", "2", "3", "4"]
    for name in ("", "0", "1", "4"):
        assert all(float(layers[name][column]) > 0 for column in ("forward_us", "backward_us", "update_us"))
        assert layers[name]["runs"] == "5"
    assert layers["2"]["update_us"] == ""
    assert (layers["0"]["macs"], layers["0"]["params"]) == (str(8 * 16 * 32), str(16 * 32 + 32))


def test_every_op_has_its_own_times_with_its_backward(profile: LayerProfile) -> None:
    ops = rows(profile, "op")
    linear = next(row for row in ops if row["op"] == "linear")
    assert (linear["module"], linear["phase"], linear["input"]) == ("0", "forward", "8x16")
    assert float(linear["backward_us"]) > 0
    loss = next(row for row in ops if row["op"] == "cross_entropy")
    assert float(loss["backward_us"]) > 0
    assert any(row["phase"] == "optimizer" and row["update_us"] for row in ops)


def test_it_prints_and_goes_to_json_and_pandas(profile: LayerProfile) -> None:
    assert "median of 5 runs" in str(profile)
    assert profile.step_us > 0
    assert len(profile.to_pandas()) == len(json.loads(profile.to_json())["rows"])
    assert "<table" in profile._repr_html_()
    assert len(profile.ops) > 5


def test_the_training_goes_on_as_if_nothing_had_happened() -> None:
    def losses(profiled: bool) -> list[float]:
        model = net()
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        x, y = torch.randn(8, 16), torch.randint(0, 4, (8,))
        found = []
        for step in range(4):
            if profiled and step in (0, 2):
                profile_layers(model, x, target=y, optimizer=optimizer, runs=2, warmup=1)
            loss = nn.functional.cross_entropy(model(x), y)
            found.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return found

    assert losses(True) == losses(False)


def test_a_loss_is_found_where_none_is_given() -> None:
    model = nn.Linear(3, 2)
    for target in (None, torch.zeros(4, 2), torch.zeros(4, dtype=torch.int64)):
        found = profile_layers(model, torch.randn(4, 3), target=target, runs=1, warmup=0)
        assert found.layers[0]["backward_us"] > 0
    own = profile_layers(model, torch.randn(4, 3), loss=lambda out: out.square().sum(), runs=1, warmup=0)
    assert "square" in [row["op"] for row in own.ops]
    frozen = nn.Linear(3, 2).requires_grad_(False)
    assert profile_layers(frozen, torch.randn(4, 3), runs=1, warmup=0).layers[0]["backward_us"] is None


def test_the_users_exception_passes_and_the_model_is_put_back() -> None:
    model = net()
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        profile_layers(model, torch.randn(8, 17), runs=1)
    assert model[1].num_batches_tracked.item() == 0
    with pytest.raises(UsageError, match="runs is 0"):
        profile_layers(model, torch.randn(8, 16), runs=0)
    with pytest.raises(UsageError, match="expected a torch"):
        profile_layers(print)


def test_the_middle_is_not_moved_by_an_outlier() -> None:
    assert middle_and_spread([1.0, 2.0, 3.0, 4.0, 1000.0]) == (3.0, 2.0)
    assert middle_and_spread([5.0]) == (5.0, 0.0)


def test_an_optimizer_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"optimizer is 'adam'; give the torch\.optim\.Optimizer"):
        profile_layers(net(), torch.randn(8, 16), optimizer="adam", runs=1)


def test_times_in_the_csv_have_no_more_digits_than_the_clock(profile: LayerProfile) -> None:
    assert all(len(row["forward_us"].replace(".", "")) <= 9 for row in rows(profile, "layer"))
