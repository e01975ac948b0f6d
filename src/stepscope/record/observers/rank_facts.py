"""Small facts about this rank that others compare: its place, its host, and how its data is shared out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch.distributed as dist
from torch.utils.data import DistributedSampler, Subset

from stepscope.runs.format.filesystem import is_remote
from stepscope.runs.format.writer_identity import host_name

if TYPE_CHECKING:
    from stepscope.evidence.ranks import Spot
    from stepscope.records.place import Place


def world() -> tuple[int, int] | None:
    """Our rank and how many there are; None where this process trains alone."""
    if not dist.is_available() or not dist.is_initialized():
        return None
    size = dist.get_world_size()
    return (dist.get_rank(), size) if size > 1 else None


def spot(place: Place | None) -> Spot | None:
    """A place as a file and a line."""
    if place is None:
        return None
    site = place.site
    return site.file, site.line


def host_of(path: str) -> str:
    """Where this path is the same file: on this host, or anywhere if it lies on a network."""
    return "" if is_remote(Path(path).parent) else host_name()


def subset_digest(dataset: Any) -> str:
    """A digest of which samples a subset has; "" for a whole dataset."""
    indices = getattr(dataset, "indices", None) if isinstance(dataset, Subset) else None
    if indices is None:
        return ""
    return hashlib.blake2b(repr(list(indices)).encode(), digest_size=8).hexdigest()


def length_of(tensors: list[Any]) -> int:
    first = next((tensor for tensor in tensors if tensor.dim()), None)
    return int(first.shape[0]) if first is not None else 0


def shares_out(loader: Any) -> bool:
    inner = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    samplers = (getattr(loader, "sampler", None), getattr(loader, "batch_sampler", None), inner)
    return any(isinstance(one, DistributedSampler) or hasattr(one, "num_replicas") for one in samplers)
