from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import tree_of
from stepscope.diagnose.crash.bindings import Binding, bindings_in, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.crash import Missing

_USUAL = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    "tqdm": "from tqdm import tqdm",
    "Path": "from pathlib import Path",
    "DataLoader": "from torch.utils.data import DataLoader",
    "Dataset": "from torch.utils.data import Dataset",
    "TensorDataset": "from torch.utils.data import TensorDataset",
    "transforms": "from torchvision import transforms",
    "datasets": "from torchvision import datasets",
    "models": "from torchvision import models",
    "SummaryWriter": "from torch.utils.tensorboard import SummaryWriter",
    "partial": "from functools import partial",
    "defaultdict": "from collections import defaultdict",
    "Optional": "from typing import Optional",
}
_MODULES = frozenset(("os", "sys", "math", "random", "time", "copy", "json", "glob", "argparse", "torch", "numpy",
                      "torchvision", "re", "pickle", "logging", "datetime", "shutil", "yaml", "wandb"))  # fmt: skip


@rule("name.undefined", severity="error", needs="crash", follows=("data.empty",))
def undefined(run: Evidence) -> Iterator[Proof]:
    """A name is used that nothing has bound: a typo, a missing import, or a path that never assigns it.

    Why it matters: the script stops at the first line that reads the name, perhaps after hours of training.

    What to do: use the name that exists, add the import, or give the variable a value on every path.

    How it is found: the missing name is compared with all names the frame could see, with the attributes of `self`, and
    with the statements that would have bound it.

    Bad:
        optimizer = torch.optim.SGD(model.parameters(), lr=learing_rate)
    Good:
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    """
    crash = run.crash
    if crash is None or not crash.is_a("NameError") or crash.missing is None or crash.last is None:
        return
    missing, frame = crash.missing, crash.last
    if crash.frames[-1] is not frame:
        return
    scope = scope_of(frame)
    bindings = [] if scope is None else bindings_in(frame.file, scope, missing.name)
    if crash.is_a("UnboundLocalError"):
        yield _unbound(crash, frame, missing, bindings)
        return
    later = [one for one in bindings if one.line > frame.line]
    imported = _USUAL.get(missing.name) or (f"import {missing.name}" if missing.name in _MODULES else "")
    if later:
        said, fix = f"`{missing.name}` is used before line {later[0].line} gives it a value", "move that line up"
    elif imported:
        said, fix = f"`{missing.name}` is not imported", f"add `{imported}` at the top of the file"
    elif missing.near:
        said = f"there is no `{missing.name}` here, but there is `{missing.near[0]}`"
        fix = f"write `{missing.near[0]}`"
    else:
        said, fix = (
            f"nothing gives `{missing.name}` a value",
            f"define `{missing.name}` before this line, or pass it in",
        )
    yield Proof(
        where=frame.site,
        message=said,
        label=f"`{missing.name}` is not defined",
        evidence={"name": missing.name, "similar": missing.near},
        fix=fix,
        related=[(later[0].site, "it gets its value here, too late")] if later else [],
    )


def _outside(frame: Frame, name: str) -> Binding | None:
    """Where the file itself gives a function's name a value."""
    tree = tree_of(frame.file)
    found = [] if tree is None or frame.function == "<module>" else bindings_in(frame.file, tree, name)
    return found[0] if found else None


def _unbound(crash: Crash, frame: Frame, missing: Missing, bindings: list[Binding]) -> Proof:
    """A local that the path taken has not assigned: the branches and loops that would have."""
    name = missing.name
    first = bindings[0] if bindings else None
    above = [one for one in bindings if one.line < frame.line]
    if not above and first is not None:
        outside = _outside(frame, name)
        shared = isinstance(first.statement, ast.AugAssign) or first.line == frame.line or outside is not None
        there = "" if outside is None else f", so the one of line {outside.line} is not seen"
        fix = f"write `global {name}` at the top of {frame.function}; or pass it in, and return the new value"
        return Proof(
            where=frame.site,
            message=f"line {first.line} assigns `{name}`, so it is local to {frame.function} and has no value yet here"
            f"{there}",
            label=f"`{name}` has no value here",
            evidence={"name": name, "assigned": [one.line for one in bindings]},
            fix=fix if shared else f"give `{name}` a value before this line, or use another name in line {first.line}",
            related=[] if outside is None else [(outside.site, f"this `{name}` belongs to the file")],
        )
    lines = ", ".join(str(one.line) for one in above)
    return Proof(
        where=frame.site,
        message=f"`{name}` has no value: the statement that assigns it (line {lines}) did not run this time",
        label=f"`{name}` may not be assigned here",
        evidence={"name": name, "assigned": [one.line for one in above]},
        fix=f"give `{name}` a value before the loop or in every branch, or raise an error where no branch fits",
        related=[(above[0].site, "not reached")] if above else [],
    )
