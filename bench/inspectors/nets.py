"""The nets of the bench, in plain PyTorch: ResNet-50 and 18, GPT-2 small, and nets down to a millisecond a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

NETS = ("resnet50", "resnet50-little", "resnet18", "gpt2", "gpt2-little", "gpt-small", "mlp", "small")
"""`-little`: the same net with a small batch, where work that grows with the parameters (a gradient norm, the update)
weighs more against the step. The worst case for the pulse among nets of this size."""


@dataclass
class Case:
    """A model with its data and its loop."""

    model: nn.Module
    inputs: Tensor
    target: Tensor
    optimizer: torch.optim.Optimizer
    loss_of: Callable[[Tensor, Tensor], Tensor]
    repeat: int = 1
    """How many steps `steps` takes: what stays on for a whole training is not charged for being switched on."""

    def steps(self) -> None:
        for _ in range(self.repeat):
            self.step()

    def step(self) -> Tensor:
        """One plain training step."""
        self.optimizer.zero_grad()
        loss = self.loss_of(self.model(self.inputs), self.target)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def forward(self) -> Tensor:
        with torch.no_grad():
            return self.model(self.inputs)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, wide: int, narrow: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(wide, narrow, 1, bias=False), nn.BatchNorm2d(narrow)
        self.conv2, self.bn2 = nn.Conv2d(narrow, narrow, 3, stride, 1, bias=False), nn.BatchNorm2d(narrow)
        self.conv3, self.bn3 = nn.Conv2d(narrow, 4 * narrow, 1, bias=False), nn.BatchNorm2d(4 * narrow)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or wide != 4 * narrow:
            self.shortcut = nn.Sequential(
                nn.Conv2d(wide, 4 * narrow, 1, stride, bias=False), nn.BatchNorm2d(4 * narrow)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        return self.relu(self.bn3(self.conv3(y)) + self.shortcut(x))


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, wide: int, narrow: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(wide, narrow, 3, stride, 1, bias=False), nn.BatchNorm2d(narrow)
        self.conv2, self.bn2 = nn.Conv2d(narrow, narrow, 3, 1, 1, bias=False), nn.BatchNorm2d(narrow)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or wide != narrow:
            self.shortcut = nn.Sequential(nn.Conv2d(wide, narrow, 1, stride, bias=False), nn.BatchNorm2d(narrow))

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    """ResNet-50 (25,557,032 parameters) by default; (2, 2, 2, 2) basic blocks make a ResNet-18 (11,689,512)."""

    def __init__(
        self,
        blocks: tuple[int, ...] = (3, 4, 6, 3),
        channels: int = 64,
        classes: int = 1000,
        block: type[Bottleneck] | type[BasicBlock] = Bottleneck,
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, channels, 7, 2, 3, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        stages, wide = [], channels
        for stage, count in enumerate(blocks):
            layers = []
            for place in range(count):
                layers.append(block(wide, channels << stage, 2 if stage and not place else 1))
                wide = block.expansion * (channels << stage)
            stages.append(nn.Sequential(*layers))
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(wide, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """With 12 blocks of 768 it is GPT-2 small, its output weights tied to the embedding: 124,439,808 parameters."""

    def __init__(
        self, blocks: int = 12, width: int = 768, heads: int = 12, words: int = 50257, context: int = 1024
    ) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.norm(self.blocks(self.words(ids) + self.places(places))))


def language_loss(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


def image_case(model: nn.Module, batch: int, side: int, device: str) -> Case:
    inputs, target = torch.randn(batch, 3, side, side, device=device), torch.randint(10, (batch,), device=device)
    model = model.to(device)
    return Case(model, inputs, target, torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9), F.cross_entropy)


def text_case(model: GPT, batch: int, length: int, device: str) -> Case:
    ids = torch.randint(model.words.num_embeddings, (batch, length + 1), device=device)
    model = model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    return Case(model, ids[:, :-1].contiguous(), ids[:, 1:].contiguous(), optimizer, language_loss)


def make_case(net: str, quick: bool = False, device: str = "cpu") -> Case:
    """`quick` keeps the shape of the nets and makes them a few times smaller, to try the bench itself."""
    torch.manual_seed(0)
    if net.startswith("resnet50"):
        if quick:
            return image_case(ResNet((1, 1, 1, 1), 32), 2, 64, device)
        return image_case(ResNet(), *((2, 128) if net.endswith("little") else (4, 160)), device)
    if net.startswith("gpt2"):
        model = GPT(3, 128, 4, 2000, 128) if quick else GPT()
        return text_case(model, 1, 64 if quick or net.endswith("little") else 128, device)
    if net == "resnet18":
        return image_case(ResNet((2, 2, 2, 2), block=BasicBlock), 4, 64, device)
    if net == "gpt-small":
        return text_case(GPT(4, 128, 4, 512, 64), 8, 64, device)
    if net == "mlp":
        model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
        inputs, target = torch.randn(32, 20, device=device), torch.randint(10, (32,), device=device)
        return Case(model, inputs, target, torch.optim.SGD(model.parameters(), lr=1e-3), F.cross_entropy)
    layers = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 16, 32), nn.ReLU()
    )
    return image_case(nn.Sequential(layers, nn.Linear(32, 10)), 8, 8, device)
