"""The VAE with four bugs: each is found in its turn, at its line; repaired, it trains and draws its three pictures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "vae_bugs.py"
MENDED = [
    ("shape.linear-in", "nn.Linear(latent, pixels)", "nn.Linear(hidden, pixels)"),
    ("device.new-tensor-cpu", "torch.randn(mean.shape)", "torch.randn_like(mean)"),
    ("math.reparam-std", "noise * log_var", "noise * (0.5 * log_var).exp()"),
    (
        "opt.no-zero-grad",
        "            loss.backward()",
        "            optimizer.zero_grad()\n            loss.backward()",
    ),
]


def run(folder: Path, text: str) -> tuple[int, list[tuple[str, int]]]:
    (folder / "vae.py").write_text(text)
    command = [sys.executable, "-m", "stepscope", "run", "--json", "found.json", "--no-run", "vae.py", "--epochs", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "STEPSCOPE_CACHE": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    found = json.loads((folder / "found.json").read_text())["findings"]
    return done.returncode, [(one["rule"], one["line"]) for one in found if one["severity"] != "info"]


@pytest.mark.slow
def test_each_bug_is_found_at_its_line_until_nothing_is_left(tmp_path: Path) -> None:
    text = SCRIPT.read_text()
    for number, (rule, bad, good) in enumerate(MENDED):
        assert text.count(bad) == 1
        line = text[: text.index(bad)].count("\n") + 1
        code, found = run(tmp_path, text)
        assert (rule, line) in found, f"{rule} at {line}: {found}"
        assert {one for one, _ in found} <= {later for later, _, _ in MENDED[number:]}
        assert code == (1 if rule == "shape.linear-in" else 0)
        text = text.replace(bad, good)
    code, found = run(tmp_path, text)
    assert (code, found) == (0, [])
    assert all((tmp_path / name).stat().st_size > 500 for name in ("digits.png", "samples.png", "latent.png"))
