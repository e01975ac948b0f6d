"""Runs with recorded steps, through the public API and a real torch: for tests and screenshots of the Model page."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

import stepscope

WIDTH, HEADS, LAYERS, WORDS, LENGTH = 64, 4, 6, 97, 24


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (width // HEADS) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH)
        self.attn = Attention()
        self.ln_2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.tokens(words) + self.places(torch.arange(words.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Diverging(nn.Module):
    """Its logarithm meets a zero, and the loss is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return (y - y).log().sum(-1)


class Named(nn.Module):
    """Names that would be markup, were they not text."""

    def __init__(self) -> None:
        super().__init__()
        self.add_module("<img src=x onerror=alert(1)>", nn.Linear(4, 4))
        self.add_module("</script><script>document", nn.Linear(4, 4))
        self.add_module("\u202egnp" + "x" * 300, nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.children():
            x = layer(x)
        return x


def model(store: Path) -> None:
    torch.manual_seed(0)
    with stepscope.init("gpt", "names", dir=store, console=False, system=False, git=False) as run:
        _record(run, Named(), torch.randn(2, 4))
    with stepscope.init("gpt", "diverging", dir=store, console=False, system=False, git=False) as run:
        _record(run, Diverging(), torch.randn(3, 8), stats=True)
    with stepscope.init("gpt", "nothing recorded", dir=store, console=False, system=False, git=False) as run:
        run.log({"loss": 1.0})
    with stepscope.init("gpt", "gpt", dir=store, console=False, system=False, git=False) as run:
        _train(run)


def _record(run: stepscope.Run, net: nn.Module, x: torch.Tensor, stats: bool = False) -> None:
    with stepscope.record(net, stats=stats) as step:
        net(x).sum().backward()
    run.log({"recording": step}, step=0)


def _train(run: stepscope.Run) -> None:
    net = GPT()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for number in range(2):
        words = torch.randint(WORDS, (4, LENGTH))
        with stepscope.record(net) as step:
            loss = functional.cross_entropy(net(words).flatten(0, 1), words.flatten())
            loss.backward()
            optimizer.step()
        run.log({"recording": step, "loss": loss.item()}, step=100 * number)


def large(folder: Path) -> None:
    """Graphs of about 5,000 ops as single files: a deep stack, and a net without modules or repetition."""
    global LAYERS
    LAYERS = 215
    net = GPT()
    with stepscope.record(net, backward=False, cost=False) as step:
        net(torch.randint(WORDS, (1, LENGTH)))
    step.graph().save(folder / "deep.html")
    names = ["relu", "sigmoid", "tanh", "neg", "abs", "sin", "cos", "erf"]
    picked = [names[at] for at in torch.randint(len(names), (5000,)).tolist()]
    with stepscope.record(backward=False, cost=False) as step:
        x = torch.zeros(3)
        for name in picked:
            x = getattr(torch, name)(x)
    step.graph().save(folder / "flat.html")


if __name__ == "__main__":
    large(Path(sys.argv[1]))
