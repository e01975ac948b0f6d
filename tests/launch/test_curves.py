"""What only the whole run shows: rates that throw the weights away, losses that never fall."""

from __future__ import annotations

from pathlib import Path

from .conftest import launch_all

TRAIN = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 20)
y = (x[:, 0] + x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr={rate})
for step in range(150):
    rows = torch.randint(0, 256, (32,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def printed(tmp_path: Path, rate: float = 0.01, was: str = "", now: str = "") -> str:
    script = tmp_path / "train.py"
    script.write_text(TRAIN.format(rate=rate).replace(was, now))
    [done] = launch_all([{"args": ["run", "train.py"], "cwd": str(tmp_path)}], torch=True)
    assert done.code == 0, done.err
    return done.err


def test_a_rate_that_throws_the_weights_away_is_reported_although_the_loss_comes_back(tmp_path):
    said = printed(tmp_path, rate=100.0)
    assert "warning[opt.lr-too-high]" in said
    assert "train.py:9" in said


def test_a_loss_that_has_not_fallen_is_a_hint_at_the_end(tmp_path):
    said = printed(tmp_path, rate=2e-6)
    assert "it has not fallen [run.loss-stuck]" in said or "differ only by chance [run.loss-stuck]" in said
    assert "warning" not in said


def test_a_training_that_learns_gets_no_word(tmp_path):
    assert "[" not in printed(tmp_path)


def test_a_loss_that_is_nan_for_a_known_reason_is_not_reported_again(tmp_path):
    said = printed(tmp_path, was="y[rows])", now="torch.full_like(y[rows], -100))")
    assert "error[loss.no-valid-target]" in said
    assert "run.loss-not-finite" not in said
