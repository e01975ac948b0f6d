"""The VAE with four bugs: each is found in its turn, at its line; repaired, it trains and draws its three pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.launch.conftest import launch_all

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


def versions() -> list[str]:
    """The script as it is, and after each mending."""
    texts = [SCRIPT.read_text()]
    for _, bad, good in MENDED:
        assert texts[-1].count(bad) == 1
        texts.append(texts[-1].replace(bad, good))
    return texts


def run_all(folder: Path, texts: list[str]) -> list[tuple[int, list[tuple[str, int]]]]:
    """The exit code of each version and what was found, at which line."""
    homes = [folder / str(number) for number in range(len(texts))]
    for home, text in zip(homes, texts, strict=True):
        home.mkdir()
        (home / "vae.py").write_text(text)
    args = ["run", "--json", "found.json", "--no-run", "vae.py", "--epochs", "1"]
    cases = [{"args": args, "cwd": str(home), "env": {"STEPSCOPE_CACHE": str(home / "cache")}} for home in homes]
    ended = launch_all(cases, torch=True, also=["sklearn.datasets", "matplotlib.pyplot"])
    found = [json.loads((home / "found.json").read_text())["findings"] for home in homes]
    loud = [[(one["rule"], one["line"]) for one in each if one["severity"] != "info"] for each in found]
    return [(done.code, each) for done, each in zip(ended, loud, strict=True)]


@pytest.mark.slow
def test_each_bug_is_found_at_its_line_until_nothing_is_left(tmp_path: Path) -> None:
    texts = versions()
    *buggy, mended = run_all(tmp_path, texts)
    for number, ((rule, bad, _), text, (code, found)) in enumerate(zip(MENDED, texts, buggy, strict=False)):
        line = text[: text.index(bad)].count("\n") + 1
        assert (rule, line) in found, f"{rule} at {line}: {found}"
        assert {one for one, _ in found} <= {later for later, _, _ in MENDED[number:]}
        assert code == (1 if rule == "shape.linear-in" else 0)
    assert mended == (0, [])
    drawn = tmp_path / str(len(MENDED))
    assert all((drawn / name).stat().st_size > 500 for name in ("digits.png", "samples.png", "latent.png"))
