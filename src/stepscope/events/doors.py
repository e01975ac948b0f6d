"""The hot doors: what each kind of event needs in place. For `stepscope doctor` and the design page."""

from __future__ import annotations

from typing import NamedTuple


class Door(NamedTuple):
    """One thing that a source installs while somebody listens to one of its kinds."""

    what: str
    kinds: tuple[str, ...]


_LOADERS = "torch.utils.data.dataloader"
DOORS = (
    Door(f"{_LOADERS}:DataLoader.__init__", ("loader_made",)),
    Door(f"{_LOADERS}:DataLoader.__iter__", ("pass_asked", "pass_began")),
    Door(f"{_LOADERS}:_BaseDataLoaderIter.__next__", ("batch_asked", "batch_given", "pass_ended")),
    Door("torch.nn:Module._call_impl (or __call__)", ("model_begins", "model_ends", "module_begins", "module_ends")),
    Door("torch.autograd:_engine_run_backward", ("backward_asked", "backward_begins", "backward_ends")),
    Door(
        "torch.optim.optimizer: the global step hooks",
        ("step_asked", "step_begins", "closure_begins", "closure_ends", "step_ends"),
    ),
    Door("torch:compile and other compilers", ("compiled",)),
    Door("one torch function mode for each thread that is followed", ("operations",)),
)
