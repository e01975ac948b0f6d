"""Running a few lines of training and then all experiments, as `stepscope check` does after a few steps."""

from __future__ import annotations

import runpy
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.optim.optimizer as optimizers

from stepscope.evidence.experiments import Outcome
from stepscope.experiments.experiment import Experimenter
from stepscope.record.observers import Watcher
from stepscope.record.observers.tape import Tapes

PRELUDE = (
    "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    "from torch.utils.data import DataLoader, Dataset, TensorDataset\ntorch.manual_seed(0)\n"
)
Probed = Callable[..., dict[str, Outcome]]


class Trained(dict[str, Outcome]):
    """The outcomes, and the names that the script left."""

    names: dict[str, Any]


@pytest.fixture
def probed(tmp_path: Path) -> Probed:
    def run(code: str, *, at: int = 2, probe: bool = True) -> Trained:
        path = tmp_path / "train.py"
        path.write_text(PRELUDE + textwrap.dedent(code))
        watcher = Watcher()
        watcher.add(Tapes(watcher))
        probes = Experimenter(watcher)

        def after(*_: Any) -> None:
            if probe and watcher.step == at and not watcher.muted and not probes.over:
                probes.run()

        watcher.start()
        hook = optimizers.register_optimizer_step_post_hook(after)
        try:
            names = runpy.run_path(str(path), run_name="__main__")
        finally:
            hook.remove()
            watcher.stop()
        if probe and not probes.over:
            probes.run()
        trained = Trained(probes.outcomes)
        trained.names = names
        return trained

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield run  # type: ignore[misc]
    torch.set_num_threads(threads)
