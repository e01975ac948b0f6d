"""The kinds of model the recorder must manage. docs/models.md lists them with the names of these tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, rnn
from torch.utils.checkpoint import checkpoint

from stepscope.records.step import StepRecord

Record = Callable[..., StepRecord]


def training(model: Any, forward: Callable[[], Any], optimizer: Any = None) -> tuple[Any, Callable[[], Any]]:
    """A model with a usual loop around it."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step() -> Any:
        optimizer.zero_grad()
        loss = forward()
        loss.backward()
        optimizer.step()
        return loss

    return model, step


def names(step: StepRecord, phase: str = "forward") -> list[str]:
    return [op.name for op in step.ops if op.phase == phase]


def tied(step: StepRecord) -> int:
    """How many backward ops know their forward op."""
    return sum(op.forward is not None for op in step.ops if op.phase == "backward")


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = self.fc(x)
            x = x.relu() if x.sum() > 0 else x.neg()
        return x


def test_data_dependent_control_flow(recorded: Record) -> None:
    def build() -> Any:
        model = Branching()
        return training(model, lambda: model(torch.randn(2, 4)).pow(2).mean())

    step = recorded(build)
    assert names(step).count("linear") == 3
    assert names(step).count("bool") == 3
    assert [call.call for call in step.calls if call.path == "fc"] == [0, 1, 2]


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor


@dataclasses.dataclass
class Answer:
    scores: torch.Tensor
    extra: dict[str, Any]


class Keywords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, *, batch: Batch, options: dict[str, torch.Tensor], pair: tuple[torch.Tensor, int]) -> Answer:
        scores = self.fc(batch.x) * batch.mask + options["bias"] + pair[0] * pair[1]
        return Answer(scores, {"mean": scores.mean(), "list": [scores.max()]})


def test_keyword_only_and_dataclass_inputs(recorded: Record) -> None:
    def build() -> Any:
        model = Keywords()

        def forward() -> Any:
            batch = Batch(torch.randn(2, 3), torch.ones(2, 2))
            answer = model(batch=batch, options={"bias": torch.zeros(2)}, pair=(torch.ones(1), 2))
            return answer.scores.sum() + answer.extra["mean"]

        return training(model, forward)

    step = recorded(build)
    root = step.calls[0]
    assert root.path == ""
    assert len(root.inputs) == 4
    assert len(root.outputs) == 3


class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        block = nn.Linear(4, 4)
        self.blocks = nn.ModuleList([block, nn.ReLU(), block])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 1), "b": nn.Linear(4, 1)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.heads["a"](x) + self.heads["b"](x)


def test_shared_modules_and_containers(recorded: Record) -> None:
    def build() -> Any:
        model = Shared()
        return training(model, lambda: model(torch.randn(2, 4)).mean())

    step = recorded(build)
    shared = next(module for module in step.modules if module.path == "blocks.0")
    assert shared.aliases == ("blocks.2",)
    assert [(op.module, op.call) for op in step.ops if op.phase == "forward" and op.name == "linear"] == [
        ("blocks.0", 0),
        ("blocks.0", 1),
        ("heads.a", 0),
        ("heads.b", 0),
    ]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent(recorded: Record, kind: Any) -> None:
    def build() -> Any:
        model = kind(3, 5, num_layers=2, batch_first=True)
        return training(model, lambda: model(torch.randn(2, 4, 3))[0].pow(2).mean())

    step = recorded(build)
    assert kind.__name__.lower() in names(step)


def test_packed_sequences(recorded: Record) -> None:
    def build() -> Any:
        model = nn.LSTM(3, 5, batch_first=True)

        def forward() -> Any:
            packed = rnn.pack_padded_sequence(torch.randn(3, 6, 3), torch.tensor([6, 4, 2]), batch_first=True)
            out, _ = model(packed)
            return rnn.pad_packed_sequence(out, batch_first=True)[0].pow(2).mean()

        return training(model, forward)

    step = recorded(build)
    assert "lstm" in names(step)
    assert "_pack_padded_sequence" in names(step, "setup")


class Checkpointed(nn.Module):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Dropout(0.5))
        self.reentrant = reentrant

    def forward(self, x: torch.Tensor) -> Any:
        return checkpoint(self.block, self.first(x), use_reentrant=self.reentrant)


@pytest.mark.parametrize("reentrant", [True, False])
def test_activation_checkpointing(recorded: Record, reentrant: bool) -> None:
    def build() -> Any:
        model = Checkpointed(reentrant)
        return training(model, lambda: model(torch.randn(2, 4)).pow(2).mean())

    step = recorded(build)
    again = [call.path for call in step.calls if call.recomputed]
    assert again[:3] == ["block", "block.0", "block.1"]
    assert not any(call.recomputed for call in step.calls if call.path == "first")
    assert names(step).count("linear") == 2
    assert [op.module for op in step.ops if op.phase == "backward" and op.name == "linear"] == ["block.0"]


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x * x * gradient


class PassThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


cube = Cube.apply  # bound before any recording, as most code does


def test_custom_autograd_functions(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Linear(3, 3)
        return training(model, lambda: PassThrough.apply(cube(model(torch.randn(2, 3)))).mean())

    step = recorded(build)
    backward = next(op for op in step.ops if op.name == "CubeBackward")
    assert backward.forward is not None
    assert step.ops[backward.forward].name == "mul"
    assert "CubeBackward" in step.ops[backward.forward].backward
    assert any(op.name == "mul" and op.phase == "backward" for op in step.ops), "what backward() calls is seen too"


@pytest.mark.filterwarnings("ignore")
def test_scripted_submodules(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Sequential(nn.Linear(3, 4), torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.Tanh())))
        return training(model, lambda: model(torch.randn(2, 3)).mean())

    step = recorded(build, steps=2)
    assert names(step) == ["linear", "Sequential"]
    assert [(unseen.what, unseen.where) for unseen in step.unseen] == [("inside scripted code", "1")]


@pytest.mark.filterwarnings("ignore")
def test_scripted_functions_are_told_of(recorded: Record) -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x.tanh() * 2.0

    def build() -> Any:
        model = nn.Linear(3, 3)
        fast = torch.jit.script(scaled)
        for _ in range(3):  # the first calls of scripted code only profile it
            fast(torch.randn(2, 3, requires_grad=True)).mean().backward()
        return training(model, lambda: fast(model(torch.randn(2, 3))).mean())

    step = recorded(build, steps=1)
    assert any(op.name.startswith("unseen:") for op in step.ops)
    assert step.unseen


def test_functional_model_without_modules(recorded: Record) -> None:
    def build() -> Any:
        weight = torch.randn(3, 2, requires_grad=True)

        def step() -> Any:
            loss = F.softmax(torch.randn(4, 3) @ weight, dim=1).pow(2).sum()
            loss.backward()
            with torch.no_grad():
                weight.sub_(0.1 * weight.grad)
                weight.grad = None
            return loss

        return None, step

    step = recorded(build)
    assert names(step) == ["randn", "matmul", "softmax", "pow", "sum"]
    assert names(step, "other") == ["mul", "sub_"]
    assert step.model == ""


def test_autocast(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2))

        def forward() -> Any:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return model(torch.randn(2, 4)).float().pow(2).mean()

        return training(model, forward)

    step = recorded(build)
    first = next(op for op in step.ops if op.name == "linear")
    assert step.tensors[first.outputs[0].id].dtype == "bfloat16"


def test_frozen_parts(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
        model[0].requires_grad_(False)
        live = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
        return training(model, lambda: model(torch.randn(2, 4)).mean(), live)

    step = recorded(build)
    assert [module.trainable for module in step.modules] == [0, 0, 10]
    frozen = next(op for op in step.ops if op.module == "0")
    assert frozen.backward == ()


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(ids))


def test_tied_weights(recorded: Record) -> None:
    def build() -> Any:
        model = Tied()
        return training(model, lambda: F.cross_entropy(model(torch.randint(0, 7, (5,))), torch.zeros(5).long()))

    step = recorded(build)
    weight = next(tensor for tensor in step.tensors if tensor.kind == "parameter")
    assert (weight.name, weight.aliases) == ("embed.weight", ("head.weight",))
    assert sum(module.parameters for module in step.modules) == 28
    assert sum(op.name == "accumulate" for op in step.ops) == 1, "the engine sums the two gradients"


@pytest.mark.parametrize("wrap", [parametrizations.weight_norm, parametrizations.spectral_norm])
def test_parametrizations(recorded: Record, wrap: Any) -> None:
    def build() -> Any:
        model = nn.Sequential(wrap(nn.Linear(4, 4)), nn.ReLU())
        return training(model, lambda: model(torch.randn(2, 4)).mean())

    step = recorded(build)
    assert any(call.path == "0.parametrizations.weight" for call in step.calls)


@pytest.mark.filterwarnings("ignore")
def test_dynamically_quantised(recorded: Record) -> None:
    if "none" in torch.backends.quantized.engine:
        pytest.skip("this build of torch has no quantised kernels")

    def build() -> Any:
        model = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), {nn.Linear})
        return None, lambda: model(torch.randn(2, 4)).sum()

    step = recorded(build)
    assert [name for name in names(step) if name != "to"] == ["randn", "linear_dynamic", "relu", "sum"]


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_quantised_tensors(recorded: Record) -> None:
    def build() -> Any:
        return None, lambda: torch.quantize_per_tensor(torch.randn(4), 0.1, 0, torch.qint8).dequantize().sum()

    step = recorded(build)
    assert [tensor.dtype for tensor in step.tensors] == ["float32", "qint8", "float32", "float32"]


def test_sparse_tensors(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Embedding(10, 3, sparse=True)
        graph = torch.eye(4).to_sparse()

        def forward() -> Any:
            return torch.sparse.mm(graph, model(torch.tensor([1, 2, 2, 5]))).pow(2).sum()

        return training(model, forward, torch.optim.SparseAdam(list(model.parameters())))

    step = recorded(build)
    assert "sparse_coo" in {tensor.layout for tensor in step.tensors}


def test_complex_numbers(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Linear(4, 4, dtype=torch.complex64)

        def forward() -> Any:
            out = torch.fft.ifft(model(torch.fft.fft(torch.randn(2, 4))))
            return out.abs().pow(2).mean() + out.real.sum()

        return training(model, forward)

    step = recorded(build)
    assert "complex64" in {tensor.dtype for tensor in step.tensors}
    assert {"fft_fft", "real"} <= set(names(step) + names(step, "setup") + names(step, "loss"))


@pytest.mark.filterwarnings("ignore")
def test_torch_func_is_recorded_as_far_as_it_is_seen(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Linear(3, 1)

        def forward() -> Any:
            parameters = dict(model.named_parameters())
            data = torch.randn(4, 3)

            def loss_of(values: Any, x: torch.Tensor) -> torch.Tensor:
                return torch.func.functional_call(model, values, (x,)).pow(2).sum()

            each = torch.func.vmap(torch.func.grad(loss_of), (None, 0))(
                {name: p.detach() for name, p in parameters.items()}, data
            )
            return model(data).mean() + each["weight"].sum()

        return training(model, forward)

    step = recorded(build)
    assert any("torch.func" in unseen.what for unseen in step.unseen)


def test_hooks_of_the_user_still_run(recorded: Record) -> None:
    heard: list[str] = []

    def build() -> Any:
        model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
        model[0].register_forward_pre_hook(lambda m, args: (args[0] * 2,))
        model[1].register_forward_hook(lambda m, args, out: out + 1)
        model[2].register_full_backward_hook(lambda m, gin, gout: heard.append("module"))
        model[0].weight.register_hook(lambda g: g * 0.5)
        model[2].weight.register_post_accumulate_grad_hook(lambda p: heard.append("parameter"))
        return training(model, lambda: model(torch.randn(2, 3)).mean())

    recorded(build)
    assert heard == ["parameter", "module"] * 9 or heard == ["module", "parameter"] * 9


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(c, 2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.out(mixed)
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.blocks = nn.Sequential(*[Block(8, 2) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids) + self.place(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def test_gpt_like(recorded: Record) -> None:
    def build() -> Any:
        model = Gpt()
        ids = torch.randint(0, 11, (2, 6))
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
        return training(model, lambda: F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()), optimizer)

    step = recorded(build)
    assert names(step).count("scaled_dot_product_attention") == 2
    assert [tensor.kind for tensor in step.tensors].count("input") == 1, "only the token ids come from outside"
    blocks = [module.structure for module in step.modules if module.type == "Block"]
    assert len(blocks) == 2
    assert len(set(blocks)) == 1
    graph = [op for op in step.ops if op.phase == "backward" and op.name.endswith("Backward0")]
    assert [op.name for op in graph if op.forward is None] == []


class T5Like(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 8)
        self.core = nn.Transformer(8, 2, 1, 1, 16, dropout=0.1, batch_first=True)
        self.head = nn.Linear(8, 9)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.head(self.core(self.embed(source), self.embed(target), tgt_mask=mask))


@pytest.mark.filterwarnings("ignore")
def test_encoder_decoder(recorded: Record) -> None:
    def build() -> Any:
        model = T5Like()
        ids = torch.randint(0, 9, (2, 5))
        return training(model, lambda: F.cross_entropy(model(ids, ids).flatten(0, 1), ids.flatten()))

    step = recorded(build)
    assert names(step).count("multi_head_attention_forward") == 3


class Scan(nn.Module):
    """A state-space block: a gated recurrence over time, written as a loop with in-place writes."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.inp, self.out = nn.Linear(4, 6), nn.Linear(4, 6), nn.Linear(6, 4)
        self.decay = nn.Parameter(torch.zeros(6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = x.new_zeros(x.shape[0], 6)
        outputs = torch.empty(x.shape[0], x.shape[1], 6)
        gate, value = F.silu(self.gate(x)), self.inp(x)
        for t in range(x.shape[1]):
            state = torch.sigmoid(self.decay) * state + value[:, t]
            outputs[:, t] = state * gate[:, t]
        return self.out(outputs)


def test_state_space_like(recorded: Record) -> None:
    def build() -> Any:
        model = Scan()
        return training(model, lambda: model(torch.randn(2, 5, 4)).pow(2).mean())

    step = recorded(build)
    writes = [op for op in step.ops if op.name == "setitem_"]
    assert len(writes) == 5
    assert all(op.inplace for op in writes)


@pytest.mark.parametrize("reentrant", [True, False])
def test_with_every_observer_on(recorded: Record, reentrant: bool) -> None:
    def build() -> Any:
        model = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), Checkpointed(reentrant)
        )
        model[4].first = nn.Linear(144, 4)
        return training(model, lambda: cube(model(torch.randn(2, 3, 8, 8))).pow(2).mean())

    step = recorded(build, observers=True)
    linear = next(op for op in step.ops if op.name == "linear")
    assert linear.cost.flops
    assert linear.cost.host_us
    assert linear.output_stats
