"""Five ways to look inside a network, on a small residual CNN that reads scikit-learn's handwritten digits.

    python examples/inspect_tour.py --out tour

1. visit every operation with a function of your own     4. profile each layer into a CSV
2. print the network, with shapes, parameters and cost   5. find where NaN and Inf are born
3. draw it

Each part is a few lines that work on any model and any training loop. docs/inspect_tour.md shows what they print.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn import functional as F

import stepscope
from stepscope.inspect.visit import OpView


class Residual(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels // 2, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels // 2)
        self.conv2 = nn.Conv2d(channels // 2, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + x)


class DigitNet(nn.Module):
    """A stem, residual blocks with pooling between them, and a linear head: ten classes from 8×8 pixels."""

    def __init__(self, channels: int = 16, blocks: int = 3) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU())
        self.blocks = nn.ModuleList(Residual(channels) for _ in range(blocks))
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(channels * 4, 10)

    def forward(self, images: Tensor) -> Tensor:
        x = self.stem(images)
        for number, block in enumerate(self.blocks):
            x = block(x)
            if number < 2:
                x = self.pool(x)
        return self.head(x.flatten(1))


class Overconfident(nn.Module):
    """The same network with a home-made loss that is fine until the network gets sure of itself."""

    def __init__(self, net: DigitNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        scores = self.net(images) * 50
        chances = scores.exp() / scores.exp().sum(1, keepdim=True)
        return -chances.gather(1, labels[:, None]).log().mean()


def heading(number: int, text: str) -> None:
    print(f"\n{number}. {text}\n{'=' * (len(text) + 3)}\n")


def visit(step: stepscope.Step) -> None:
    """Any function, lambda or object that can be called is shown every operation in the order it ran."""
    step.visit(lambda op: print(op) if op.phase == "forward" and op.module == "blocks.0" else None)

    class Count:
        """Something that remembers: how often each function ran, and which of them have parameters."""

        def __init__(self) -> None:
            self.functions: Counter[str] = Counter()
            self.learning: set[str] = set()

        def __call__(self, op: OpView) -> None:
            if op.phase == "forward":
                self.functions[op.name] += 1
                self.learning.update([op.name] if op.parameters else [])

    count = Count()
    step.visit(count)
    print("\nforward functions:", dict(count.functions))
    print("with parameters:  ", sorted(count.learning))


def pretty_print(step: stepscope.Step) -> None:
    """The table, then the step op by op."""
    print(step.table(by="module", columns=["output", "params", "flops", "saved_bytes"]))
    print()
    step.print(summary=True, forward=True, backward=False)


def draw(step: stepscope.Step, out: Path) -> None:
    """An interactive page and a drawing, each one file that needs nothing else."""
    graph = step.graph()
    print("wrote", graph.save(out / "net.html").name, "(open it in a browser)")
    print("wrote", graph.save(out / "net.svg").name)


def profile(model: DigitNet, images: Tensor, labels: Tensor, runs: int, out: Path) -> None:
    """Forward, backward and update of every layer and op, over many runs."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    found = stepscope.profile_layers(model, images, labels, optimizer=optimizer, runs=runs)
    found.to_csv(out / "profile.csv")
    print(found.layers)
    print("\nwrote profile.csv")


def trace(model: DigitNet, images: Tensor, labels: Tensor) -> None:
    """First a healthy step, then one whose loss overflows."""
    with stepscope.trace_values(nan=True, inf=True) as tracer:
        F.cross_entropy(model(images), labels).backward()
    print("cross_entropy:", tracer.check())
    wrong = Overconfident(model)
    with stepscope.trace_values(nan=True, inf=True, model=wrong) as tracer:
        wrong(images, labels).backward()
    print(f"\nhome-made loss: {tracer.check()}")


def train(model: DigitNet, images: Tensor, labels: Tensor, steps: int) -> None:
    """A few steps, so that the network has something to be sure of."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("tour"), help="folder for net.html, net.svg and profile.csv")
    parser.add_argument("--runs", type=int, default=100, help="runs of the layer profile")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images[:64], dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(digits.target[:64])
    model = DigitNet()
    train(model, images, labels, steps=30)

    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with stepscope.record(model) as step:
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

    heading(1, "Visit every operation")
    visit(step)
    heading(2, "Print the network")
    pretty_print(step)
    heading(3, "Draw it")
    draw(step, options.out)
    heading(4, "Profile each layer")
    profile(model, images, labels, options.runs, options.out)
    heading(5, "Find where NaN and Inf are born")
    trace(model, images, labels)


if __name__ == "__main__":
    main()
