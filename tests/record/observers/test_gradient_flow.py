"""Flow: where the way of a gradient is cut."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from stepscope.record.observers import Watcher


def cuts(encode) -> list[tuple[str, str]]:
    """(way, op) of every cut parameter, when a decoder trains on what `encode(encoder, x)` gives."""
    torch.manual_seed(0)
    encoder, decoder = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
    watcher = Watcher().start()
    try:
        optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            decoder(encode(encoder, torch.randn(2, 4))).pow(2).mean().backward()
            optimizer.step()
    finally:
        watcher.stop()
    return sorted({(cut.way, cut.origin.op) for cut in watcher.gradient_flow.cuts})


def under_no_grad(encoder, x):
    with torch.no_grad():
        return encoder(x)


@pytest.mark.parametrize(
    ("encode", "expected"),
    [
        (lambda encoder, x: encoder(x), []),
        (lambda encoder, x: encoder(x).detach(), [("detach", "detach")]),
        (lambda encoder, x: encoder(x).data, [("detach", "data")]),
        (under_no_grad, [("no_grad", "linear")]),
        (lambda encoder, x: torch.from_numpy(encoder(x).detach().numpy()), [("host", "from_numpy")]),
        (lambda encoder, x: torch.round(encoder(x)), []),
    ],
    ids=["whole", "detach", "data", "no_grad", "numpy", "round"],
)
def test_names_what_cuts_the_way(encode, expected):
    assert cuts(encode) == expected
