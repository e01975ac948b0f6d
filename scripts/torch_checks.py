"""The checks that scripts/torch-versions runs with each version of torch: one JSON line per check on stdout.

    .versions/torch-2.2-py3.12/bin/python scripts/torch_checks.py [CHECK,...]

A check runs small scripts as a user would, in processes of their own, and asserts what must come out; `untouched` runs
the scripts of tests/untouched plain and watched. A fault that Stepscope reports of itself fails the check.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

FAULT = "was skipped; training goes on"  # how Stepscope reports a fault of its own

TRAINING = """
import hashlib
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(320, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
for epoch in range(3):
    model.train()
    for features, labels in loader:
        optimizer.zero_grad()
        logits = model(features)
        loss = nn.functional.cross_entropy(logits, labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        print(epoch, (model(x).argmax(1) == y).float().mean().item())
state = [*model.state_dict().values(), torch.get_rng_state(), *(p.grad for p in model.parameters())]
print(hashlib.sha256(b"".join(part.numpy().tobytes() for part in state)).hexdigest())
"""
NO_ZERO_GRAD = TRAINING.replace("        optimizer.zero_grad()\n", "")
LOG_OF_ZERO = TRAINING.replace("logits = model(features)", "logits = model(torch.log(features.clamp(min=0)))")

RECORD = """
import torch, stepscope
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(5, 8), torch.randint(0, 3, (5,))
for depth in ("ops", "modules", "aten"):
    with stepscope.record(model, depth=depth) as step:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    names = [op.name for op in step]
    phases = {op.phase for op in step}
    print(depth, len(names), phases)
    assert any("linear" in n.lower() or "addmm" in n.lower() for n in names), names
    assert {"forward", "backward"} <= phases, (depth, phases)
    assert "optimizer" in phases or depth == "modules", phases
    assert any(n.startswith("AddmmBackward") for n in names) or depth != "ops", names
"""
SUMMARY = """
import torch, stepscope
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 5))
told = str(stepscope.summary(model, torch.ones(2, 3, 8, 8)))
print(told)
for part in ("1,669", "Conv2d", "2×8×6×6", "37.44 k FLOPs"):
    assert part in told, part
"""
VALUES = """
import torch, stepscope
model = torch.nn.Linear(4, 4)
for bad, kind in (("sqrt", "backward"), ("log", "loss")):
    with stepscope.trace_values(model=model) as tracer:
        out = model(torch.zeros(2, 4)) * 0
        loss = getattr(torch, bad)(out).sum() if bad == "sqrt" else (torch.log(out) * 0).sum()
        loss.backward()
    report = tracer.check()
    print(report)
    assert not report.ok and bad in str(report), report
model.zero_grad()
with stepscope.trace_values(model=model) as tracer:
    model(torch.ones(2, 4)).sum().backward()
assert tracer.check().ok
"""


def launch(folder: Path, text: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run `text` as train.py with this command of Stepscope, or with plain Python when there is none."""
    (folder / "train.py").write_text(text)
    stepscope = ["-m", "stepscope", *command] if command else []
    done = subprocess.run(
        [sys.executable, *stepscope, "train.py"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    print(f"$ {' '.join(command) or 'python'} train.py\n{done.stdout}{done.stderr}", file=sys.stderr, flush=True)
    faults = [line for line in done.stderr.splitlines() if FAULT in line]
    assert not faults, faults[0]
    return done


def findings(folder: Path, text: str, command: str) -> list[tuple[str, int]]:
    """Rule and line of all findings of this script under `run` or `check`."""
    place = ["--dir", "runs"] if command == "run" else []
    done = launch(folder, text, command, "-q", *place, "--json", "findings.json")
    assert done.returncode in (0, 1), last_line(done)
    told = json.loads((folder / "findings.json").read_text())
    return [(finding["rule"], finding["line"]) for finding in told["findings"]]


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stdout + done.stderr).strip().splitlines()
    return f"exit {done.returncode}: {lines[-1] if lines else 'no output'}"


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def check_plain(folder: Path) -> None:
    done = launch(folder, TRAINING)
    assert done.returncode == 0, last_line(done)
    accuracy = float(done.stdout.splitlines()[2].split()[1])
    assert accuracy > 0.8, done.stdout


def check_same(folder: Path) -> None:
    plain = launch(folder, TRAINING)
    watched = launch(folder, TRAINING, "run", "-q", "--dir", "runs")
    assert watched.returncode == 0, last_line(watched)
    assert watched.stdout == plain.stdout, f"weights, RNG or gradients differ: {watched.stdout}"


def check_healthy(folder: Path) -> None:
    for command in ("run", "check"):
        found = findings(folder, TRAINING, command)
        assert not found, f"a false alarm of {command}: {found}"


def check_zero_grad(folder: Path) -> None:
    for command in ("run", "check"):
        found = findings(folder, NO_ZERO_GRAD, command)
        assert ("opt.no-zero-grad", line_of(NO_ZERO_GRAD, "loss.backward()")) in found, f"{command}: {found}"


def check_nan(folder: Path) -> None:
    for command in ("run", "check"):
        found = findings(folder, LOG_OF_ZERO, command)
        assert line_of(LOG_OF_ZERO, "torch.log") in [line for rule, line in found if rule.startswith("num.")], (
            f"{command}: {found}"
        )


def check_profile(folder: Path) -> None:
    done = launch(folder, TRAINING, "profile", "--dir", "runs", "--steps", "5:10", "--json", "profile.json")
    assert done.returncode == 0, last_line(done)
    assert "addmm" in (folder / "profile.json").read_text(), "no operator addmm in the profile"


def check_record(folder: Path) -> None:
    inside(folder, RECORD)


def check_summary(folder: Path) -> None:
    inside(folder, SUMMARY)


def check_values(folder: Path) -> None:
    inside(folder, VALUES)


def inside(folder: Path, text: str) -> None:
    done = launch(folder, text)
    assert done.returncode == 0, last_line(done)


def check_events(folder: Path) -> None:
    run_tests(folder, "tests/events")


def check_untouched(folder: Path) -> None:
    run_tests(folder, "tests/untouched/test_untouched.py", "-k", "run")


def run_tests(folder: Path, tests: str, *options: str) -> None:
    """These tests of ours; warnings of an older or newer torch are no failure."""
    place = Path(__file__).resolve().parent.parent / tests
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        "-o",
        "filterwarnings=default",
    ]
    done = subprocess.run([*command, str(place), *options], capture_output=True, text=True, cwd=folder)
    print(done.stdout, done.stderr, file=sys.stderr, flush=True)
    failed = [
        re.split(r"::|\[", line)[-1].split("]")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")
    ]
    assert not failed, f"{len(failed)} of {tests}: {' '.join(failed)}"
    assert done.returncode == 0, last_line(done)


CHECKS: dict[str, Callable[[Path], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}


def main() -> None:
    chosen = sys.argv[1].split(",") if len(sys.argv) > 1 else CHECKS
    for name in chosen:
        outcome = "ok"
        with tempfile.TemporaryDirectory(prefix="torch-checks-") as folder:
            try:
                CHECKS[name](Path(folder))
            except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError) as error:
                outcome = f"{error}"[:2000] or type(error).__name__
        print(json.dumps({"check": name, "outcome": outcome}), flush=True)


if __name__ == "__main__":
    main()
