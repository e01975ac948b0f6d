"""Every rule over profiles is held to its examples: `tests/diagnose/rules/perf/<rule>.md`.

Blocks are scripts that train for a few steps, run with the facts gathered, in CPU time and on a machine whose figures
are known, so that other programs change nothing; or, for what only an accelerator shows, they make a trace (`gpu =
Gpu(...)`) and `facts`. Under `## Buggy: ...` the rule must find something, at the line with the comment `# cause` where
there is one; under `## Healthy: ...` it must not.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils.data.dataloader as dataloader
from tests.diagnose.rules.test_examples import EVERY, asked_of
from tests.profile.advice.cpu_clock import cpu_clock

from stepscope import fence
from stepscope.profile.advice.verdict import Verdict, verdict
from stepscope.profile.collect.facts import Facts
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.records.profile import ProfileMeta

HERE = Path(__file__).parent
PRELUDE = "import time\nimport numpy as np\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\
from torch.utils.data import DataLoader, Dataset, TensorDataset\n"
MACHINE = {"op_ns": 2_500.0, "copy_bytes_per_ns": 8.0, "threads_gain": 1.8, "double_gain": 2.0}
"""What operations, copies and threads cost where the examples run; a worker costs the default."""
MADE = "from made_traces import A100, V100, Gpu, call, loader\n"


EXAMPLES = [example for example in EVERY if asked_of(example, "profile")]


class Told(Profile):
    """A profile whose facts are given."""

    def __init__(self, facts: dict[str, Any], tables: dict[int, Any]) -> None:
        super().__init__(ProfileMeta(id="made", kind="opened", created=0.0, world=len(tables)), tables=tables)
        self._facts = facts

    def facts(self, rank: int = 0) -> dict[str, Any]:
        return self._facts


@pytest.fixture
def advise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setattr(os, "sched_getaffinity", os.sched_getaffinity)  # some examples have more processors
    threads = torch.get_num_threads()

    def run(code: str) -> tuple[Verdict, str]:
        made = "Gpu(" in code
        script = tmp_path / "train.py"
        script.write_text((MADE if made else PRELUDE + "torch.manual_seed(0)\n") + code)
        if made:
            names = runpy.run_path(str(script))
            ranks = names.get("ranks") or [names["gpu"]]
            return verdict(
                Told(names.get("facts", {}), {n: one.events() for n, one in enumerate(ranks)})
            ), script.read_text()
        facts = Facts(clock=cpu_clock(monkeypatch))
        facts.install(torch)
        facts.install_loaders(dataloader)
        try:
            runpy.run_path(str(script), run_name="__main__")
            found = {**facts.result(), "machine": MACHINE}
        finally:
            facts.remove()
        return verdict(Told(found, {0: Builder().events()})), script.read_text()

    yield run
    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float32)
    torch.autograd.set_detect_anomaly(False)
    assert not fence._faults, [fault.traceback for fault in fence._faults.values()]


def _id(example: tuple[str, str, str]) -> str:
    return f"{example[0]}: {example[1]}"


def _kind(start: str) -> list[tuple[str, str, str]]:
    return [one for one in EXAMPLES if one[1].startswith(start)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", _kind("Buggy"), ids=_id)
def test_advises_what_helps(advise: Any, example: tuple[str, str, str]) -> None:
    rule, _, code = example
    told, script = advise(code)
    said = [(one.rule, one.line, one.message, one.evidence) for one in told.findings]
    mine = [one for one in told.findings if one.rule == rule]
    assert mine, f"{rule} was not advised; {told.headline.text}; {said}"
    assert all(0 <= one.tip.saving_ns <= told.step_ns and 0 <= one.tip.share <= 1 for one in told.advised), said
    assert told.saving_ns <= told.step_ns
    lines = [number for number, line in enumerate(script.splitlines(), 1) if line.endswith("# cause")]
    assert not lines or any(one.line in lines for one in mine), f"the cause is at {lines}; {said}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", _kind("Healthy"), ids=_id)
def test_keeps_silent_where_it_would_not(advise: Any, example: tuple[str, str, str]) -> None:
    rule, _, code = example
    told, _ = advise(code)
    assert rule not in [one.rule for one in told.findings], [
        (one.rule, one.message, one.evidence) for one in told.findings
    ]
