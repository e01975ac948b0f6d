from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from stepscope.errors import UsageError
from stepscope.inspect.summary import Summary, summary


class Block(nn.Module):
    def __init__(self, into: int, out: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(into, out, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.bn(self.conv(x)))


class ConvNet(nn.Module):
    def __init__(self, features: int = 16 * 8 * 8) -> None:
        super().__init__()
        self.first, self.second = Block(3, 8), Block(8, 16)
        self.pool, self.drop = nn.MaxPool2d(2), nn.Dropout(0.5)
        self.fc = nn.Linear(features, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.second(self.pool(self.first(x))))
        return self.fc(self.drop(x.flatten(1)))  # type: ignore[no-any-return]


class Tagger(nn.Module):
    """Keyword-only inputs, a dict output, tied weights, a counter as an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 8)
        self.out = nn.Linear(8, 50, bias=False)
        self.out.weight = self.embed.weight
        self.register_buffer("calls", torch.zeros(1))
        self.seen = 0

    def forward(self, *, input_ids: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        self.calls += 1
        self.seen += 1
        self.cache = self.embed(input_ids)
        hidden = self.cache if mask is None else self.cache * mask.unsqueeze(-1)
        return {"logits": self.out(hidden)}


def cell(found: Summary, module: str, column: str) -> Any:
    return next(row for row in found.table if row["module"] == module)[column]


def test_numbers_agree_with_those_computed_by_hand() -> None:
    found = summary(ConvNet(), input_size=(2, 3, 32, 32))
    macs = {"first.conv": 2 * 8 * 32 * 32 * 27, "second.conv": 2 * 16 * 16 * 16 * 72, "fc": 2 * 1024 * 10}
    for module, expected in macs.items():
        assert cell(found, module, "macs") == expected
    assert cell(found, "first.conv", "flops") == 2 * macs["first.conv"]
    assert found.parameters == found.trainable == 3 * 8 * 9 + 16 + 8 * 16 * 9 + 32 + 1024 * 10 + 10
    assert found.macs == sum(macs.values())
    assert cell(found, "pool", "calls") == 2
    assert (cell(found, "second", "input"), cell(found, "second", "output")) == ([[2, 8, 16, 16]], [[2, 16, 16, 16]])


def test_tied_weights_count_once_and_keywords_reach_the_model() -> None:
    ids = torch.zeros(3, 5, dtype=torch.int64)
    found = summary(Tagger(), input_ids=ids, mask=torch.ones(3, 5))
    assert found.error is None
    assert found.parameters == 50 * 8
    assert cell(found, "out", "params") == 0
    assert cell(found, "out", "macs") == 3 * 5 * 8 * 50
    assert cell(found, "", "output") == [[3, 5, 50]]


def test_without_inputs_it_tells_the_structure_and_runs_nothing() -> None:
    class Never(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise AssertionError("was run")

    found = summary(nn.Sequential(Never(3, 4), nn.ReLU()))
    assert [row["module"] for row in found.table] == ["", "0", "1"]
    assert found.parameters == 16
    assert found.flops is None
    assert "FLOPs" not in str(found)


def test_several_sizes_and_dtypes() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.fc = nn.Embedding(7, 4), nn.Linear(6, 4)

        def forward(self, ids: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return self.embed(ids) + self.fc(x)  # type: ignore[no-any-return]

    found = summary(Two(), input_size=[(5,), (5, 6)], dtypes=[torch.int64, "float32"])
    assert found.error is None
    assert cell(found, "", "input") == [[5], [5, 6]]
    named = summary(Two(), input_size={"x": (5, 6), "ids": (5,)}, dtypes={"ids": "int64"})
    assert named.error is None


def test_a_crash_gives_the_table_up_to_the_layer_and_the_models_own_words() -> None:
    found = summary(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(9, 2), nn.Linear(2, 2)), torch.zeros(3, 4))
    assert isinstance(found.error, RuntimeError)
    assert found.failure is not None
    assert (found.failure.path, found.failure.inputs) == ("2", ["3×8 float32"])
    text = str(found)
    assert "FAILED in 2 Linear(in_features=9, out_features=2, bias=True)" in text
    assert str(found.error) in text
    assert "its inputs were 3×8 float32" in text
    assert "its parameters are weight 2×9, bias 2" in text
    assert "... 1 more not reached" in text
    assert next(row.mark for row in found.table.rows if row.label == "2") == "failed"


def test_a_crash_hints_at_the_usual_cause() -> None:
    assert "dtypes=torch.int64" in str(summary(nn.Sequential(nn.Embedding(9, 4)), input_size=(2, 3)))
    assert "forward needs more inputs" in str(summary(nn.Bilinear(2, 2, 2), input_size=(2, 2)))


def test_the_model_and_the_world_are_left_exactly_as_they_were() -> None:
    model = ConvNet().train()
    model.second.eval()
    model.fc.weight.grad = torch.ones_like(model.fc.weight)
    gradient = model.fc.weight.grad
    before = {name: value.clone() for name, value in model.state_dict().items()}
    states = (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy())  # type: ignore[index]
    hooks = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())
    for mode in ("train", "eval", "same"):
        summary(model, input_size=(4, 3, 32, 32), mode=mode)  # type: ignore[arg-type]
    summary(model, input_size=(4, 3, 32, 32), backward=True)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert model.first.training
    assert not model.second.bn.training
    assert model.fc.weight.grad is gradient
    assert torch.equal(gradient, torch.ones_like(gradient))
    assert model.fc.bias.grad is None
    assert torch.equal(states[0], torch.get_rng_state())
    assert states[1] == random.getstate()
    assert (states[2] == np.random.get_state()[1]).all()  # type: ignore[index]
    assert hooks == sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_what_the_forward_leaves_on_the_module_is_taken_away() -> None:
    model = Tagger()
    summary(model, input_ids=torch.zeros(1, 2, dtype=torch.int64))
    assert model.seen == 0
    assert not hasattr(model, "cache")
    assert model.calls.item() == 0


def test_a_lazy_model_stays_lazy() -> None:
    model = nn.Sequential(nn.LazyLinear(4), nn.ReLU())
    found = summary(model, input_size=(2, 3))
    assert found.parameters == 16
    assert isinstance(model[0].weight, nn.UninitializedParameter)


@pytest.mark.parametrize(
    ("model", "sizes", "dtypes"),
    [
        (nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 2)), (4, 8), None),
        (ConvNet(), (2, 3, 32, 32), None),
        (nn.Sequential(nn.Embedding(9, 16), nn.LayerNorm(16), nn.Linear(16, 16), nn.Tanh()), (4, 7), torch.int64),
    ],
)
def test_estimated_activations_agree_with_measured_ones(model: nn.Module, sizes: Any, dtypes: Any) -> None:
    without = summary(model, input_size=sizes, dtypes=dtypes, mode="train").estimate
    measured = summary(model, input_size=sizes, dtypes=dtypes, mode="train", backward=True).estimate
    assert without is not None
    assert measured is not None
    assert measured.measured_activations is not None
    assert without.activations == pytest.approx(measured.measured_activations, rel=0.02)
    assert measured.activations == pytest.approx(without.activations, rel=0.02)


def test_memory_scales_with_the_batch_and_the_optimizer() -> None:
    model = nn.Linear(100, 100, bias=False)
    small = summary(model, input_size=(1, 100), optimizer="sgd").estimate
    large = summary(model, input_size=(1, 100), batch_size=64, optimizer="adam").estimate
    assert small is not None
    assert large is not None
    assert (small.parameters, small.gradients, small.optimizer_state, small.activations) == (40000, 40000, 0, 400)
    assert (large.optimizer_state, large.activations, large.total) == (80000, 25600, 40000 * 4 + 25600)
    with pytest.raises(UsageError, match="optimizer is 'magic'; expected one of none, sgd"):
        summary(model, input_size=(1, 100), optimizer="magic")


def test_frozen_parts_are_told_apart() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[0].requires_grad_(False)
    found = summary(model, input_size=(1, 2))
    assert (found.parameters, found.trainable) == (12, 6)
    assert "6 trainable, 6 frozen" in str(found)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: summary(lambda x: x), "expected a torch.nn.Module"),
        (lambda: summary(nn.ReLU(), torch.zeros(1), input_size=(1,)), "pass only one of them"),
        (lambda: summary(nn.ReLU(), input_size=(1,), mode="fast"), "mode is 'fast'"),  # type: ignore[arg-type]
        (lambda: summary(nn.ReLU(), input_size=("a",)), "expected a tuple of whole numbers"),
        (lambda: summary(nn.ReLU(), input_size=(1,), dtypes="float31"), "there is no dtype 'float31'"),
        (lambda: summary(nn.ReLU(), input_size=[(1,), (2,)], dtypes=["int64"]), "2 input sizes and 1 dtypes"),
    ],
)
def test_wrong_arguments_say_what_is_expected(call: Any, words: str) -> None:
    with pytest.raises(UsageError) as error:
        call()
    assert words in str(error.value)


def test_results_go_to_json_csv_pandas_and_html() -> None:
    found = summary(ConvNet(), input_size=(1, 3, 32, 32))
    assert json.loads(found.to_json())["totals"]["params"] == found.parameters
    assert found.to_csv().startswith("module,type,input,output,dtype,device,params,trainable,flops,macs,")
    assert len(found.to_pandas()) == len(found.table)
    assert "<table" in found._repr_html_()


def test_torchs_transformer_is_seen_inside_in_evaluation_too() -> None:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    enabled = torch.backends.mha.get_fastpath_enabled()
    found = summary(layer.eval(), input_size=(2, 5, 16))
    assert cell(found, "linear1", "macs") == 2 * 5 * 16 * 32
    assert next(row.mark for row in found.table.rows if row.label == "out_proj") == "not called, weights used"
    assert torch.backends.mha.get_fastpath_enabled() == enabled


def test_tied_weights_say_whose_they_are() -> None:
    found = summary(Tagger(), input_ids=torch.zeros(1, 2, dtype=torch.int64))
    assert "└─ out (weight is embed.weight)" in str(found)
    assert "(weight is embed.weight)" in str(summary(Tagger()))


def test_a_gpt_counts_attention_and_estimates_its_memory() -> None:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q, k, v = (part.unflatten(2, (4, 8)).transpose(1, 2) for part in self.qkv(self.norm(x)).split(32, dim=2))
            y = nn.functional.scaled_dot_product_attention(q, k, v)
            return x + self.out(y.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    found = summary(nn.Sequential(Attention(), Attention()), input_size=(2, 16, 32), mode="train", backward=True)
    projections = 2 * 16 * 32 * (96 + 32)
    attention = 2 * 2 * 4 * 16 * 16 * 8
    assert found.macs == 2 * (projections + attention)
    assert found.estimate is not None
    assert found.estimate.measured_activations == pytest.approx(found.estimate.activations, rel=0.03)


def test_inputs_take_the_models_dtype_and_device() -> None:
    half = summary(nn.Linear(4, 2).to(torch.bfloat16), input_size=(3, 4))
    assert half.error is None
    assert cell(half, "", "dtype") == "bfloat16"


def test_a_model_too_large_for_memory_is_summed_up_on_the_meta_device() -> None:
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(100_000, 100_000), nn.BatchNorm1d(100_000))
    found = summary(model, input_size=(2, 100_000))
    assert found.error is None
    assert found.macs == 2 * 10**10
    assert cell(found, "", "device") == "meta"


def test_a_size_that_is_a_number_is_refused() -> None:
    with pytest.raises(UsageError, match="input_size has 3; expected a tuple"):
        summary(ConvNet(), input_size=3)  # type: ignore[arg-type]


def test_an_op_that_failed_is_not_one_without_a_formula() -> None:
    text = str(summary(nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 2)), torch.randn(2, 4)))
    assert "FAILED in 1 Linear" in text
    assert "without a formula" not in text


def test_a_model_without_parameters_has_nothing_to_train() -> None:
    assert (
        str(summary(nn.Sequential(nn.ReLU()), torch.randn(2, 3))).split("\n")[-1].startswith("no parameters, 6 FLOPs")
    )


def test_an_input_that_fits_nowhere_is_refused_and_on_meta_it_fits() -> None:
    with pytest.raises(UsageError, match=r"an input of 1×3×100000000×100000000 does not fit into memory"):
        summary(nn.Conv2d(3, 1, 1), input_size=(1, 3, 10**8, 10**8))  # more than an address can say
    with torch.device("meta"):
        model = nn.Conv2d(3, 1, 1)
    assert summary(model, input_size=(1, 3, 1_000_000, 1_000_000)).macs == 3 * 10**12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [torch.jit.script, lambda model: torch.jit.trace(model, torch.ones(2, 4))])
def test_scripted_and_traced_models_are_left_as_they_were(make: Any) -> None:
    scripted = make(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).train())
    before = {name: value.clone() for name, value in scripted.state_dict().items()}
    found = summary(scripted, torch.ones(2, 4), mode="train")
    assert found.error is None
    assert found.parameters == 21
    after = scripted.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
