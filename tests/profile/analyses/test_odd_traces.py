"""Traces nobody expects: whatever the events are, the analyses of places and memory answer and do not fail."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from stepscope.profile.analyses.analysis import all_analyses
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder

OURS = ("modules", "lines", "python", "python-functions", "memory-curve", "memory-categories", "memory-peak",
        "memory-events", "memory-operators", "memory-modules", "memory-lines", "memory-cuda")  # fmt: skip
NAMES = (
    ("aten::mm", "cpu_op"), ("aten::to", "cpu_op"), ("autograd::engine::evaluate_function: MmBackward0", "cpu_op"),
    ("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", "cpu_op"),
    ("nn.Module: Linear_0", "python_function"), ("nn.Module: Net_0", "python_function"),
    ("train.py(3): step", "python_function"), ("torch/x.py(3): y", "python_function"), ("?", "python_function"),
    ("Optimizer.step#SGD.step", "user_annotation"), ("Optimizer.zero_grad#SGD", "user_annotation"),
    ("module Net:a.b (X)", "user_annotation"), ("module ", "user_annotation"), ("k", "kernel"),
    ("enumerate(DataLoader)#", "user_annotation"), ("cudaLaunchKernel", "cuda_runtime"), ("[memory]", "x"),
)  # fmt: skip
FACTS: tuple[dict[str, Any], ...] = (
    {},
    {
        "modules": {"Linear_0": ["Net", "a.b"], "Net_0": ["Net", ""]},
        "call_lines": {"train.py(3): step": {"torch/x.py(3): y": [4, 5]}},
        "storages": {"parameters": [[1, 100, "a.b.weight", "cpu"], [2, 100, "x", "cuda:0"]], "junk": [[1]]},
    },
    {"modules": 3, "storages": []},
    {"modules": {"Linear_0": 7}, "call_lines": 0},
)


def add(builder: Builder, chance: random.Random) -> None:
    name, cat = chance.choice(NAMES)
    at, thread = chance.randrange(200), chance.choice([1, 2])
    if name == "[memory]":
        memory = {"Bytes": chance.choice([0, 100, -100, 512, -512, 10**12]), "Addr": chance.choice([0, 1, 2, 3]),
                "Total Allocated": chance.choice([0, 100, 10**13, -5]), "Device Type": chance.choice([0, 1, 77]),
                "Device Id": chance.choice([-1, 0, 1])}  # fmt: skip
        args = {key: value for key, value in memory.items() if chance.random() < 0.9}
        builder.add(name, cat, start=at, pid=1, tid=thread, ph="i", args=args)
        return
    told: dict[str, Any] = {
        "Sequence number": chance.randrange(4),
        "correlation": chance.randrange(5),
        "Fwd thread id": 1,
    }
    told["Call stack"] = chance.choice(["", "torch/x.py(1): f;model.py(12): forward", ";;"])
    args = {key: value for key, value in told.items() if chance.random() < 0.5}
    builder.add(name, cat, start=at, dur=chance.choice([0, 1, 50, 100, -1]), pid=1, tid=thread, args=args)


def test_no_trace_makes_them_fail() -> None:
    analyses = all_analyses()
    for seed in range(150):
        chance, builder = random.Random(seed), Builder()
        for _ in range(chance.choice([0, 1, 3, 20, 60])):
            add(builder, chance)
        profile = Profile.of_events({0: builder.events()})
        facts = chance.choice(FACTS)
        profile.facts = lambda rank=0, facts=facts: facts  # type: ignore[method-assign]
        for name in OURS:
            try:
                msgspec.json.encode(analyses[name](profile))  # as the browser gets it
            except Exception as fault:
                raise AssertionError(f"{name} fails on the trace of seed {seed}") from fault
