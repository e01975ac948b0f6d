"""A step that failed fails again in the replay, to the bit."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from stepscope.errors import NotFound, UsageError
from stepscope.launch.capsule.load import open_capsule
from stepscope.launch.replay.replay import Outcome, replay
from stepscope.launch.script import find_script, run_as_main

HEAD = """\
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(3)
X, Y = torch.randn(48, 6), torch.randn(48, 1)
"""


def write(folder: Path, body: str, name: str = "train.py") -> Path:
    path = folder / name
    path.write_text(HEAD + body)
    return path


def replayed(ran: Any, **options: Any) -> Outcome:
    with ran.unchanged_process(), open_capsule(ran.run) as capsule:
        return replay(capsule, **options)


NAN_BACKWARD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)
        self.drop = nn.Dropout(0.4)

    def forward(self, x):
        return self.b(self.drop(torch.relu(self.norm(self.a(x)))))


def train():
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)
    step = 0
    for epoch in range(3):
        for x, y in loader:
            noisy = x + 0.1 * torch.randn_like(x)
            weight = min(1.0, 0.05 * step)
            out = model(noisy)
            loss = (out - y + torch.randn_like(y)).square().mean() * (1 + weight)
            if step == 9:
                loss = loss + (out.sum() * 0).abs().sqrt()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1


train()
"""


def test_a_nan_gradient_is_born_again_with_the_same_loss_to_the_bit(tmp_path: Path, keeping: Any) -> None:
    """Dropout, noise, shuffling, batch norm and a schedule by step number: all as they were."""
    ran = keeping.run_and_keep(write(tmp_path, NAN_BACKWARD))
    assert [(kept.step, kept.why, kept.missing) for kept in ran.kept] == [(9, "gradient", ())]
    outcome = replayed(ran)
    assert outcome.same_loss is True
    assert outcome.grad_norm is not None
    assert math.isnan(outcome.grad_norm)
    assert outcome.report is not None
    first = outcome.report.first
    assert first is not None
    assert first.kind == "backward"
    assert first.site is not None
    assert "sqrt" in first.site.text


def test_a_nan_loss_is_born_again_where_it_was(tmp_path: Path, keeping: Any) -> None:
    body = """
model = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
X[20, 0] = -1e8
for x, y in DataLoader(TensorDataset(X, Y), batch_size=8):
    shifted = x.clamp(max=2)
    loss = (model(shifted) - y).square().mean() + shifted.sum().clamp(max=1e9).add(1e6).log()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    assert [(kept.step, kept.why) for kept in ran.kept] == [(2, "loss")]
    outcome = replayed(ran)
    assert outcome.same_loss is True
    assert outcome.report is not None
    assert outcome.report.first is not None
    assert outcome.report.first.op.name == "log"


def test_an_error_is_raised_again_and_explained(tmp_path: Path, keeping: Any) -> None:
    body = """
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in DataLoader(TensorDataset(X, Y), batch_size=20):
        out = model(x)
        loss = F.mse_loss(out.view(20, 1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    assert [(kept.step, kept.why) for kept in ran.kept] == [(2, "error")]
    outcome = replayed(ran)
    assert outcome.same_error is True
    assert outcome.failed_again


def test_a_loop_without_a_loader_gets_its_arguments_and_targets_back(tmp_path: Path, keeping: Any) -> None:
    body = """
model = nn.Sequential(nn.Linear(6, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    pick = torch.randint(0, 48, (8,))
    out = model(X[pick])
    loss = F.mse_loss(out, Y[pick])
    if step == 6:
        loss = loss + (out.sum() * 0).abs().sqrt()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    assert [(kept.step, kept.why) for kept in ran.kept] == [(6, "gradient")]
    outcome = replayed(ran)
    assert outcome.same_loss is True
    assert outcome.failed_again


def test_the_second_half_of_a_gan_step_goes_on_after_the_first_update(tmp_path: Path, keeping: Any) -> None:
    body = """
G, D = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.3), nn.Linear(8, 1))
g_opt, d_opt = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for step, (real, _) in enumerate(DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)):
    fake = G(torch.randn(8, 4))
    d_loss = F.softplus(D(fake.detach())).mean() + F.softplus(-D(real)).mean()
    d_opt.zero_grad(); d_loss.backward(); d_opt.step()
    score = D(fake)
    g_loss = F.softplus(-score).mean()
    if step == 3:
        g_loss = g_loss + (score.sum() * 0).abs().sqrt()
    g_opt.zero_grad(); g_loss.backward(); g_opt.step()
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    assert len(ran.kept) == 1
    outcome = replayed(ran)
    assert outcome.manifest.steps_taken == 1
    assert outcome.same_loss is True
    assert outcome.failed_again


def test_a_trainer_with_named_arguments_autocast_and_changing_buffers(tmp_path: Path, keeping: Any) -> None:
    body = """
from torch.nn.utils.parametrizations import spectral_norm

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return len(X)

    def __getitem__(self, index):
        return {"ids": X[index] + 0.1 * torch.randn(6), "labels": Y[index], "name": str(index)}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.drop, self.b = spectral_norm(nn.Linear(6, 8)), nn.Dropout(0.3), nn.Linear(8, 1)

    def forward(self, ids=None, labels=None, name=None):
        out = self.b(self.drop(torch.tanh(self.a(ids))))
        return {"loss": F.mse_loss(out, labels), "out": out}

class Trainer:
    def __init__(self):
        self.model, self.seen = Net(), 0
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self, batch):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = self.model(**batch)
        loss = out["loss"] * (1 + self.seen)
        if self.seen == 7:
            loss = loss + (out["out"].float().sum() * 0).abs().sqrt()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.seen += 1

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            for batch in DataLoader(Rows(), batch_size=24):
                self.model(**batch)
        self.model.train()

    def fit(self):
        for epoch in range(2):
            self.evaluate()
            for batch in DataLoader(Rows(), batch_size=8, shuffle=True):
                self.step(batch)

if __name__ == "__main__":
    Trainer().fit()
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    assert [(kept.step, kept.missing) for kept in ran.kept] == [(7, ())]
    outcome = replayed(ran)
    assert outcome.same_loss is True
    assert outcome.batch_tensors == ["8x6 float32", "8x1 float32"]


def test_bare_parameters_without_a_module(tmp_path: Path, keeping: Any) -> None:
    body = """
W, b = torch.randn(6, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([W, b], lr=0.1)
step = 0
for x, y in DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True):
    out = x @ W + b + torch.randn(8, 1)
    loss = (out - y).square().mean() * (1 + step)
    if step == 4:
        loss = loss + (out.sum() * 0).abs().sqrt()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    outcome = replayed(ran)
    assert outcome.same_loss is True
    assert outcome.grad_norm is not None
    assert math.isnan(outcome.grad_norm)


def test_a_failing_evaluation_is_reached_past_the_training_loop(tmp_path: Path, keeping: Any) -> None:
    body = """
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in DataLoader(TensorDataset(X, Y), batch_size=8):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for x, y in DataLoader(TensorDataset(X[:20], Y[:20]), batch_size=8):
            out = model(x)
            if epoch == 2:
                out.view(8, 4)
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    assert [(kept.step, kept.why) for kept in ran.kept] == [(18, "error")]
    outcome = replayed(ran)
    assert outcome.same_error is True
    assert outcome.batch_tensors == ["4x6 float32", "4x1 float32"]


def test_loaders_asked_from_one_line_are_told_apart_by_where_they_were_made(tmp_path: Path, keeping: Any) -> None:
    body = """
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
valid = DataLoader(TensorDataset(X[:8], Y[:8]), batch_size=2)
train = DataLoader(TensorDataset(X, Y), batch_size=8)

def go(loader, training):
    for step, (x, y) in enumerate(loader):
        loss = (model(x) - y).square().mean()
        if training:
            if step == 3:
                loss = loss * float("nan")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

go(valid, False)
go(train, True)
"""
    ran = keeping.run_and_keep(write(tmp_path, body))
    outcome = replayed(ran)
    assert outcome.batch_tensors == ["8x6 float32", "8x1 float32"]
    assert outcome.same_loss is True


def test_a_mended_file_is_tried_with_current(tmp_path: Path, keeping: Any) -> None:
    script = write(tmp_path, NAN_BACKWARD)
    ran = keeping.run_and_keep(script)
    script.write_text("# a comment above moves every line\n" + script.read_text().replace(".abs().sqrt()", ".abs()"))
    assert replayed(ran).failed_again, "without --current the saved source runs"
    outcome = replayed(ran, current=True)
    assert outcome.reached
    assert not outcome.failed_again


def test_a_script_that_is_gone_is_replayed_from_the_capsule(tmp_path: Path, keeping: Any) -> None:
    (tmp_path / "parts.py").write_text("import torch\ndef broken(out):\n    return (out.sum() * 0).abs().sqrt()\n")
    body = NAN_BACKWARD.replace("(out.sum() * 0).abs().sqrt()", "parts.broken(out)")
    script = write(tmp_path, "import parts\n" + body)
    ran = keeping.run_and_keep(script)
    script.unlink()
    (tmp_path / "parts.py").unlink()
    sys.modules.pop("parts", None)
    outcome = replayed(ran)
    sys.modules.pop("parts", None)
    assert outcome.stage.from_capsule
    assert outcome.same_loss is True


def test_a_batch_too_large_for_the_capsule_is_said_to_be_missing(tmp_path: Path, keeping: Any) -> None:
    ran = keeping.run_and_keep(write(tmp_path, NAN_BACKWARD), most_bytes=100)
    assert any(missing.startswith("batch: ") for missing in ran.kept[0].missing)
    with pytest.raises(NotFound, match="its batch is not in the capsule"):
        replayed(ran)


def test_another_model_is_refused_with_the_difference(tmp_path: Path, keeping: Any) -> None:
    script = write(tmp_path, NAN_BACKWARD)
    ran = keeping.run_and_keep(script)
    script.write_text(script.read_text().replace("nn.Linear(6, 8)", "nn.Linear(6, 8, bias=False)"))
    with pytest.raises(UsageError, match=r"'a\.bias' is not in the model"):
        replayed(ran, current=True)


def test_a_script_that_fails_before_its_loop_says_so(tmp_path: Path, keeping: Any) -> None:
    script = write(tmp_path, "import pathlib\ndata = pathlib.Path('data.txt').read_text()\n" + NAN_BACKWARD)
    (tmp_path / "data.txt").write_text("here")
    ran = keeping.run_and_keep(script)
    (tmp_path / "data.txt").unlink()
    outcome = replayed(ran)
    assert not outcome.reached
    assert isinstance(outcome.error, FileNotFoundError)


def test_the_training_is_the_same_with_and_without_the_keeper(tmp_path: Path, keeping: Any) -> None:
    body = NAN_BACKWARD.replace("if step == 9:", "if False:").replace(
        "\ntrain()\n", "    torch.save(model.state_dict(), 'end.pt')\n\ntrain()\n"
    )
    script = write(tmp_path, body)
    ran = keeping.run_and_keep(script)
    assert ran.kept == []
    watched = torch.load(tmp_path / "end.pt")
    with keeping.unchanged_process():
        os.chdir(tmp_path)
        run_as_main(find_script(str(script), ()))
    plain = torch.load(tmp_path / "end.pt")
    assert all(torch.equal(watched[name], plain[name]) for name in plain)
