"""The trainings of the bench, on synthetic data; large nets come from bench/inspectors/nets.py."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from inspectors.nets import GPT, BasicBlock, Bottleneck, ResNet, language_loss
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

__all__ = ["Work", "make_work"]


@dataclass(frozen=True)
class Work:
    """What a user's script has before its loop."""

    model: nn.Module
    batches: Iterable[Any]
    """A DataLoader or a list: one pass is an epoch."""
    loss_of: Callable[[nn.Module, Any], Tensor]
    optimizer: torch.optim.Optimizer | None
    """None: the script only runs forwards under no_grad."""


def make_work(name: str, device: str = "cpu", tiny: bool = False) -> Work:
    """`tiny` keeps the structure and shrinks the sizes, to try the bench itself."""
    torch.manual_seed(0)
    if name.startswith("gpt-"):
        return gpu_gpt(name, device, tiny)
    if name == "resnet50":
        net = ResNet((1, 1, 1, 1), 8) if tiny else ResNet((3, 4, 6, 3), block=Bottleneck)
        return images(net.to(device), *((2, 32) if tiny else (64, 128)), device)
    return CPU_WORKS[name]()


def mlp(*sizes: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for wide, narrow in itertools.pairwise(sizes):
        layers += [nn.Linear(wide, narrow), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def classify(model: nn.Module, batch: Any) -> Tensor:
    inputs, labels = batch
    return F.cross_entropy(model(inputs), labels)


def tiny_mlp() -> Work:
    model = mlp(20, 64, 64, 2)
    batches = [(x, (x[:, 0] > 0).long()) for x in torch.randn(64, 32, 20)]
    return Work(model, batches, classify, torch.optim.SGD(model.parameters(), lr=0.05))


def with_loader() -> Work:
    model = mlp(32, 64, 64, 4)
    inputs = torch.randn(6_400, 32)
    dataset = TensorDataset(inputs, inputs[:, :4].argmax(1))
    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    return Work(model, loader, classify, torch.optim.Adam(model.parameters(), lr=1e-3))


def mnist() -> Work:
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10),
    )  # fmt: skip
    inputs = torch.randn(960, 1, 28, 28)
    loader = DataLoader(TensorDataset(inputs, torch.randint(10, (960,))), batch_size=16, shuffle=True)
    return Work(model, loader, classify, torch.optim.Adam(model.parameters(), lr=1e-3))


def forwards() -> Work:
    model = mlp(32, 128, 128, 10).eval()
    return Work(model, list(torch.randn(64, 64, 32)), lambda net, x: net(x), None)


def layers() -> Work:
    model = nn.Sequential(*(nn.Linear(16, 16) for _ in range(1_000)))
    batches = [(x, torch.zeros(8, dtype=torch.long)) for x in torch.randn(4, 8, 16)]
    return Work(model, batches, classify, torch.optim.SGD(model.parameters(), lr=0.01))


def text(model: GPT, batch: int, tokens: int, device: str, half: bool = False) -> Work:
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.02)
    ids = torch.randint(model.words.num_embeddings, (256 * batch, tokens + 1))
    cuda = device == "cuda"
    loader = DataLoader(TensorDataset(ids), batch_size=batch, shuffle=True, pin_memory=cuda)

    def loss_of(net: nn.Module, rows: Any) -> Tensor:
        ids = rows[0].to(device, non_blocking=True)
        with torch.autocast(device, torch.bfloat16, enabled=half):
            return language_loss(net(ids[:, :-1]), ids[:, 1:])

    model = model.to(device)
    return Work(model, loader, loss_of, torch.optim.AdamW(model.parameters(), lr=3e-4))


def gpu_gpt(name: str, device: str, tiny: bool) -> Work:
    """`gpt-8x768`: eight blocks of width 768."""
    blocks, width = map(int, name.removeprefix("gpt-").split("x"))
    tokens, words, half = {128: (64, 512, False), 512: (256, 4096, False), 768: (512, 4096, True)}.get(
        width, (1024, 4096, True)
    )
    if tiny:
        blocks, width, tokens, words = 2, 64, 32, 64
    return text(GPT(blocks, width, max(2, width // 64), words, tokens), 8, tokens, device, half)


def images(model: nn.Module, batch: int, side: int, device: str) -> Work:
    inputs = [torch.randn(batch, 3, side, side, device=device) for _ in range(4)]
    batches = [(x, torch.randint(10, (batch,), device=device)) for x in inputs]
    return Work(model, batches, classify, torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9))


CPU_WORKS: dict[str, Callable[[], Work]] = {
    "mlp": tiny_mlp,
    "memory": tiny_mlp,
    "loader": with_loader,
    "mnist": mnist,
    "gpt": lambda: text(GPT(4, 128, 4, 512, 64), 8, 64, "cpu"),
    "resnet18": lambda: images(ResNet((2, 2, 2, 2), block=BasicBlock), 4, 64, "cpu"),
    "forwards": forwards,
    "layers": layers,
}
