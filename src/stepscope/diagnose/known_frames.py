"""What a Python stack is about, by the file and function of each frame. Knows nothing of torch."""

from __future__ import annotations

import os
from collections.abc import Iterable

from stepscope.common.code_owner import is_own_file

__all__ = ["meaning_of"]

_LIBRARY = (
    ("torch/distributed/distributed_c10d.py", "collective", ""),
    ("torch/distributed/_functional_collectives.py", "collective", ""),
    ("torch/distributed/fsdp/", "collective", "FSDP"),
    ("torch/distributed/utils.py", "collective", "a check across ranks"),
    ("torch/nn/parallel/distributed.py", "collective", "DistributedDataParallel"),
    ("torch/utils/data/dataloader.py", "data", "DataLoader next"),
    ("torch/autograd/graph.py", "backward", "backward"),
    ("torch/_tensor.py", "backward", "backward"),
    ("torch/optim/", "optimizer", "optimizer step"),
)
"""Where a frame lies, and what it means there; "": the name of the function."""


def meaning_of(frames: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The kind and name of what the script's innermost call into torch does, else the script's own function."""
    found: tuple[str, str] | None = None
    own = ""
    for file, name in frames:
        if is_own_file(file):
            own = "the script" if name == "<module>" else f"{name}()"
            if found is not None and found[0] != "data":  # a model called by its wrapper, a hook: the script's again
                found = None
        elif found is None:
            found = _known_call(file.replace(os.sep, "/"), name)
    return found or ("python", own)


def _known_call(file: str, name: str) -> tuple[str, str] | None:
    for part, kind, doing in _LIBRARY:
        if part in file:
            return kind, doing or name
    return None
