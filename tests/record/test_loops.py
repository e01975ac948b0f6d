"""Loops that are more than `loss.backward(); optimizer.step()`; docs/models.md lists them by these tests' names."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from stepscope.records.step import StepRecord

Record = Callable[..., StepRecord]
Built = tuple[nn.Module, Callable[[], torch.Tensor]]


def names(step: StepRecord) -> list[str]:
    return [op.name for op in step.ops]


def sources(step: StepRecord) -> set[str]:
    """The shapes of what came from outside."""
    return {"x".join(map(str, tensor.shape)) for tensor in step.tensors if tensor.kind == "input"}


def gan() -> Built:
    maker = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.LeakyReLU(0.2), nn.Linear(8, 4), nn.Tanh())
    judge = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1))
    model = nn.ModuleDict({"maker": maker, "judge": judge})
    makes, judges = torch.optim.Adam(maker.parameters(), 1e-2), torch.optim.RMSprop(judge.parameters(), 1e-2)

    def step() -> torch.Tensor:
        real, fake = torch.randn(5, 4), maker(torch.randn(5, 3))
        judges.zero_grad()
        loss = F.softplus(-judge(real)).mean() + F.softplus(judge(fake.detach())).mean()
        mixed = torch.lerp(real, fake.detach(), torch.rand(5, 1)).requires_grad_()
        (slope,) = torch.autograd.grad(judge(mixed).sum(), mixed, create_graph=True)
        (loss + ((slope.norm(dim=1) - 1) ** 2).mean()).backward()
        judges.step()
        makes.zero_grad()
        fooled = F.softplus(-judge(fake)).mean()
        fooled.backward()
        makes.step()
        return loss + fooled

    return model, step


def test_a_gan_with_a_gradient_penalty(recorded: Record) -> None:
    step = recorded(gan)
    assert [call.call for call in step.calls if call.path == "judge"] == [0, 1, 2, 3]
    assert names(step).count("backward") == 2
    assert names(step).count("grad") == 1
    assert sources(step) == set()


def policy() -> Built:
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)

    def step() -> torch.Tensor:
        state, told, rewards = torch.randn(4), [], []
        for _ in range(4):
            choice = torch.distributions.Categorical(logits=model(state))  # type: ignore[no-untyped-call]
            action = choice.sample()  # type: ignore[no-untyped-call]
            told.append(choice.log_prob(action))  # type: ignore[no-untyped-call]
            rewards.append(float(action.item() == 1))
            state = state * 0.9 + torch.randn(4) * 0.1
        loss = -(torch.stack(told) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        return loss.detach()

    return model, step


def test_a_policy_that_samples_its_actions(recorded: Record) -> None:
    step = recorded(policy)
    assert [call.call for call in step.calls if call.path == ""] == [0, 1, 2, 3]
    assert names(step).count("multinomial") == 4
    assert sum(op.name == "item" for op in step.ops if op.phase != "optimizer") == 4
    assert sources(step) == set(), "what a distribution checks is seen too"


class Bags(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.EmbeddingBag(20, 4, mode="sum", sparse=True)
        self.out = nn.Linear(4, 2)

    def forward(self, ids: torch.Tensor, starts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return self.out(self.bags(ids, starts, per_sample_weights=weights))  # type: ignore[no-any-return]


def bags() -> Built:
    model = Bags()
    sparse = torch.optim.SparseAdam(model.bags.parameters())
    dense = torch.optim.SGD(model.out.parameters(), 0.1)

    def step() -> torch.Tensor:
        sparse.zero_grad()
        dense.zero_grad()
        loss = F.cross_entropy(
            model(torch.randint(0, 20, (7,)), torch.tensor([0, 3]), torch.rand(7)), torch.tensor([0, 1])
        )
        loss.backward()
        sparse.step()
        dense.step()
        return loss

    return model, step


def test_bags_with_sparse_gradients_and_their_own_optimizer(recorded: Record) -> None:
    step = recorded(bags)
    assert "embedding_bag" in names(step)
    assert "sparse_coo" in {tensor.layout for tensor in step.tensors if tensor.kind == "gradient"}


def scaled() -> Built:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.Flatten(), nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(model(torch.randn(2, 3, 6, 6)), torch.tensor([0, 3]))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        return loss

    return model, step


def test_autocast_with_a_gradient_scaler_and_clipping(recorded: Record) -> None:
    step = recorded(scaled)
    assert {tensor.dtype for tensor in step.tensors} >= {"bfloat16", "float32"}
    assert next(op for op in step.ops if op.name == "backward").inputs == (step.loss,)


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleDict({name: nn.Linear(4, 4) for name in "abc"})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chances = self.gate(x).softmax(-1)
        chosen, mixed = chances.argmax(-1), torch.zeros_like(x)
        for number, expert in enumerate(self.experts.values()):
            mine = chosen == number
            if mine.any():
                mixed[mine] = expert(x[mine]) * chances[mine, number, None]
        return mixed


def experts() -> Built:
    model = Experts()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(torch.randn(9, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return model, step


def test_a_mixture_of_experts_by_masks(recorded: Record) -> None:
    step = recorded(experts)
    ran = {call.path for call in step.calls if call.path.startswith("experts.")}
    written = [op for op in step.ops if op.name == "setitem_"]
    assert 1 <= len(ran) == len(written) <= 3
    assert [op.outputs[0].version for op in written] == list(range(1, len(written) + 1))
