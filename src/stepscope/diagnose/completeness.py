"""What each rule must have seen before its silence means anything.

A rule that finds nothing has passed only if what it looks for could have been seen. The needs stand here, by group,
with the exceptions first; whoever has watched says which of them were not met, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache

NEEDS = {
    "steps": "optimizer steps observed in detail",
    "operations": "single operations of a model",
    "loader": "batches of a DataLoader",
    "epoch": "a complete pass over the training data",
    "evaluation": "a model run without gradients",
    "files": "something saved or loaded",
    "ranks": "more than one process",
}

_NEEDED = {
    # Exceptions
    "data.augment-eval": ("loader", "evaluation"),
    "data.label-noise": ("loader", "epoch"),
    "data.sampler-weights": ("loader", "epoch"),
    "data.test-in-train": ("evaluation",),
    "data.overlapping-split": ("evaluation",),
    "data.scaler-leak": (),
    "data.split-order": (),
    "api.warned": (),
    "data.aliased-buffer": ("steps",),
    "data.target-*": ("operations",),
    "data.view-not-permute": ("operations",),
    "eval.no-grad-missing": ("operations",),
    "grad.requires-grad-typo": (),
    "metric.off-by-one-mean": (),
    "mode.bn-small-batch": ("operations",),
    "mode.frozen-bn": ("steps",),
    "mode.teacher-train": ("operations",),
    "repro.no-seed": ("steps",),
    "repro.set-order": (),
    "rl.no-done-mask": (),
    # Groups
    "amp.*": ("steps",),
    "api.*": ("steps",),
    "autograd.*": ("operations",),
    "data.*": ("loader",),
    "device.*": ("operations",),
    "dist.*": ("ranks",),
    "dtype.*": ("operations",),
    "eval.*": ("evaluation",),
    "grad.*": ("steps", "operations"),
    "index.*": ("operations",),
    "init.*": ("steps",),
    "io.*": ("files",),
    "loss.*": ("operations",),
    "math.*": ("operations",),
    "mem.*": ("steps",),
    "metric.*": ("evaluation",),
    "mode.*": ("evaluation",),
    "model.*": ("operations",),
    "num.*": ("steps", "operations"),
    "opt.*": ("steps",),
    "perf.*": ("steps",),
    "repro.*": ("steps",),
    "config.*": ("steps",),
    "rl.*": ("operations",),
    "shape.*": ("operations",),
}
"""The first pattern that fits counts. A rule of another group needs nothing."""


@cache
def needs_of(rule: str) -> tuple[str, ...]:
    """What it must have seen.

    >>> needs_of("data.label-noise"), needs_of("data.nan-input"), needs_of("mine.own")
    (('loader', 'epoch'), ('loader',), ())
    """
    if rule in _NEEDED:
        return _NEEDED[rule]
    group = rule.partition(".")[0]
    near = (pattern for pattern in _NEEDED if pattern.startswith(group))
    return next((_NEEDED[pattern] for pattern in near if fnmatchcase(rule, pattern)), ())


def incomplete(rules: Iterable[str], missing: Mapping[str, str]) -> dict[str, str]:
    """The rules whose silence means nothing, each with the need that was not met.

    >>> incomplete(["opt.no-zero-grad", "mode.no-eval"], {"evaluation": "nothing ran without gradients"})
    {'mode.no-eval': 'evaluation'}
    """
    unmet = {rule: next((need for need in needs_of(rule) if need in missing), "") for rule in rules}
    return {rule: need for rule, need in unmet.items() if need}
