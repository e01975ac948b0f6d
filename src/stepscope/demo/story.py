"""What the demo runs, in which order: two chains of commands, each command a few seconds of real training."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Act:
    """One command of the demo."""

    title: str
    """What the progress bar shows; also the run's name, where the command makes one run."""
    command: tuple[str, ...]
    """The words after `stepscope`."""
    tags: tuple[str, ...] = ()
    edits: tuple[tuple[str, str], ...] = ()
    """What to change in vae.py first, as its author would after reading the findings."""
    fails: bool = False
    """Whether the script is meant to crash."""
    fresh: bool = False
    """Whether it needs an interpreter of its own: its start is measured, or it starts processes itself."""


def _digits(title: str, *arguments: str, tags: tuple[str, ...]) -> Act:
    return Act(title, ("run", "digits_vae.py", "--epochs", "20", *arguments), tags)


def _vae(title: str, *edits: tuple[str, str], fails: bool = False) -> Act:
    return Act(title, ("run", "--project", "vae-debugging", "vae.py", "--epochs", "8"), ("debugging",), edits, fails)


def _sweep(upto: int) -> Act:
    """The same sweep continues: each command adds three runs. Ten finished runs are the least for *Importance*."""
    return Act(f"sweep, {upto} of 9", ("sweep", "sweep.yaml", "--runs", str(upto), "--parallel", "1"))


def _profile(title: str, script: str) -> Act:
    options = ("--with-stack", "--profile-memory", "--project", "slow-training")
    return Act(title, ("profile", *options, script), ("speed",), fresh=True)


def _ranks(title: str, script: str) -> Act:
    launcher = ("torchrun", "--standalone", "--nproc-per-node", "2")
    return Act(title, ("run", "--project", "slow-training", *launcher, script), ("speed",), fresh=True)


_SHAPE_FIX = ("nn.Linear(latent, pixels)", "nn.Linear(hidden, pixels)")
_OTHER_FIXES = (
    ("torch.randn(mean.shape)", "torch.randn_like(mean)"),
    ("noise * log_var", "noise * (0.5 * log_var).exp()"),
    ("            loss.backward()", "            optimizer.zero_grad()\n            loss.backward()"),
)

STORY = (
    (
        _sweep(3),
        _sweep(6),
        _sweep(9),
        _profile("made-faster", "faster.py"),
        Act("a report", ("report", "--save", "demo_report.md"), fresh=True),
    ),
    (
        _vae("vae-crashes", fails=True),
        _vae("vae-learns-badly", _SHAPE_FIX),
        _vae("vae-fixed", *_OTHER_FIXES),
        _digits("diverges", "--optimizer", "sgd", "--lr", "0.05", "--decay", "1000", tags=("broken",)),
        _ranks("slow-rank", "slow_rank.py"),
        _profile("slow", "slow.py"),
        _digits("baseline", tags=("baseline",)),
        _digits("baseline-seed-1", "--seed", "1", tags=("baseline",)),
    ),
)
"""Commands of one chain follow each other; the chains run side by side and take about as long. What the pages open on,
the newest runs, comes last."""

QUICK = frozenset({"vae-crashes", "vae-learns-badly", "a report"})
"""Enough for a test of the demo itself."""
