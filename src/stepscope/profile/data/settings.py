"""The settings of a DataLoader that change its speed but not its data."""

from __future__ import annotations

import dis
import inspect
from dataclasses import dataclass
from types import CodeType
from typing import Any


@dataclass(frozen=True)
class LoaderSettings:
    workers: int = 0
    prefetch: int | None = None
    """Batches each worker has ready; None without workers."""
    persistent: bool = False
    pin: bool = False
    batch_size: int | None = None

    @classmethod
    def of(cls, loader: Any) -> LoaderSettings:
        """Those it has now."""
        return cls(
            workers=loader.num_workers,
            prefetch=loader.prefetch_factor if loader.num_workers else None,
            persistent=bool(loader.persistent_workers),
            pin=bool(loader.pin_memory),
            batch_size=loader.batch_size,
        )

    def with_workers(self, workers: int) -> LoaderSettings:
        """So many workers, and what goes with it."""
        return LoaderSettings(
            workers=workers,
            prefetch=(self.prefetch or 2) if workers else None,
            persistent=self.persistent and workers > 0,
            pin=self.pin,
            batch_size=self.batch_size,
        )

    def arguments(self, now: LoaderSettings) -> dict[str, Any]:
        """The arguments of `DataLoader(...)` that differ from what it has now."""
        found: dict[str, Any] = {}
        if self.workers != now.workers:
            found["num_workers"] = self.workers
        if self.workers and self.prefetch not in (now.prefetch, None if now.workers else 2):
            found["prefetch_factor"] = self.prefetch
        if now.workers and not self.workers and now.prefetch not in (None, 2):
            found["prefetch_factor"] = None
        if self.persistent != now.persistent:
            found["persistent_workers"] = self.persistent
        if self.pin != now.pin:
            found["pin_memory"] = self.pin
        if self.batch_size != now.batch_size:
            found["batch_size"] = self.batch_size
        return found

    def text(self) -> str:
        """As one would write it.

        >>> LoaderSettings(4, 2, True).text()
        'num_workers=4, persistent_workers=True'
        """
        parts = [f"num_workers={self.workers}"]
        if self.prefetch not in (None, 2):
            parts.append(f"prefetch_factor={self.prefetch}")
        parts += ["persistent_workers=True"] * self.persistent + ["pin_memory=True"] * self.pin
        return ", ".join(parts)


def loader_like(loader: Any, settings: LoaderSettings, *, drop_last: bool = False) -> Any:
    """A plain DataLoader over the same data, with other settings; `drop_last`: only full batches."""
    from torch.utils.data import DataLoader, IterableDataset

    given: dict[str, Any] = {"dataset": loader.dataset, "collate_fn": loader.collate_fn, "generator": loader.generator}
    is_stream = isinstance(loader.dataset, IterableDataset)
    own_batches = loader.batch_sampler is not None and loader.batch_size is None
    if own_batches and not is_stream:
        given["batch_sampler"] = loader.batch_sampler
    else:
        only_full = bool(settings.batch_size) and (drop_last or loader.drop_last)
        given.update(batch_size=settings.batch_size, drop_last=only_full)
        if not is_stream:
            given["sampler"] = loader.sampler
    if settings.workers:
        given.update(
            num_workers=settings.workers,
            prefetch_factor=settings.prefetch,
            persistent_workers=settings.persistent,
            worker_init_fn=loader.worker_init_fn,
            timeout=loader.timeout if loader.num_workers else 0,
            multiprocessing_context=loader.multiprocessing_context if loader.num_workers else None,
        )
        if not getattr(loader, "in_order", True):
            given["in_order"] = False
    return DataLoader(**given, pin_memory=settings.pin)


def is_sharded(loader: Any) -> bool:
    """Whether several workers share the data; a stream that does not ask which worker it is in gives all to each."""
    from torch.utils.data import IterableDataset, IterDataPipe

    dataset = loader.dataset
    if not isinstance(dataset, IterableDataset) or isinstance(dataset, IterDataPipe):
        return True
    if loader.worker_init_fn is not None:
        return True
    return any(_names_worker(code) for code in _codes_of(type(dataset)))


def _codes_of(kind: type) -> list[CodeType]:
    members = [member for base in kind.__mro__[:-1] for member in vars(base).values()]
    functions = [getattr(member, "__func__", member) for member in members]
    own = [one for one in functions if inspect.isfunction(one) and not str(one.__module__).startswith("torch.")]
    return [inspect.unwrap(one).__code__ for one in own]


def _names_worker(code: CodeType) -> bool:
    if any("worker" in str(one.argval) for one in dis.get_instructions(code) if one.opname.startswith("LOAD_")):
        return True
    return any(_names_worker(inner) for inner in code.co_consts if isinstance(inner, CodeType))
