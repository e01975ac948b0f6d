"""A checkpoint without its code: the tensors of a `.pt`, `.pth`, `.bin` or `.safetensors` file and their contents.

Pickles are always read with `weights_only=True`: a checkpoint may come from anyone, and unpickling executes its
code.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope.common.units import bytes_text
from stepscope.errors import BadData, MissingExtra, NotFound
from stepscope.files.opening import open_file, read_window
from stepscope.files.packed import check_zip, is_zip
from stepscope.inspect.safetensors import looks_like_safetensors, read_header
from stepscope.inspect.table import Row, Table
from stepscope.inspect.tensor_values import Floats, stats_of, torch_pieces
from stepscope.plain_text import clean
from stepscope.records.step import Stats

COLUMNS = [
    "tensor", "shape", "dtype", "params", "bytes", "mean", "std", "min", "max", "norm", "nan", "inf", "zero_percent",
]  # fmt: skip
_MOST_FACTS = 200
_UNFOLDS, _FREE = 4.0, 64 << 20
"""torch does not compress what it saves: a file that expands to several times its size is not from torch."""


@dataclass
class CheckpointTensor:
    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    pieces: Callable[[], Iterator[Floats] | None]
    """Its values, read on demand."""
    same_as: str | None = None
    """The first name with the same memory (tied weights)."""
    stats: Stats | None = None

    @property
    def numel(self) -> int:
        total = 1
        for one in self.shape:
            total *= one
        return total

    def take_stats(self) -> None:
        pieces = self.pieces()
        self.stats = None if pieces is None else stats_of(pieces)


@dataclass
class Checkpoint:
    """A file's contents: tensors by name, and the rest (epoch, learning rate ...) as facts."""

    path: str
    format: str
    tensors: list[CheckpointTensor]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        own = [tensor for tensor in self.tensors if tensor.same_as is None]
        totals = {"params": sum(t.numel for t in own), "bytes": sum(t.bytes for t in own)}
        many = f"{len(self.tensors)} tensor{'' if len(self.tensors) == 1 else 's'}"
        title = f"{self.path}: {many}, {bytes_text(totals['bytes'])} ({self.format})"
        rows = [_row(tensor) for tensor in self.tensors]
        return Table(COLUMNS, rows, totals, title, self._notes())

    def _notes(self) -> list[str]:
        bad = [t.name for t in self.tensors if t.stats is not None and t.stats.nan + t.stats.pos_inf + t.stats.neg_inf]
        notes = [f"NOT FINITE: {', '.join(bad[:8])}{' ...' if len(bad) > 8 else ''}"] if bad else []
        facts = sorted(self.facts.items(), key=lambda fact: fact[0].count("."))  # the file's own before its parts'
        shown = [f"{name} = {value}" for name, value in facts[:20]]
        if shown:
            more = f"; {len(self.facts) - 20} more" if len(self.facts) > 20 else ""
            notes.append(f"also: {'; '.join(shown)}{more}")
        return notes

    def print(self, width: int | None = None) -> None:
        self.table.print(width)

    def to_csv(self, path: str | Path | None = None) -> str:
        return self.table.to_csv(path)

    def to_json(self, path: str | Path | None = None) -> str:
        return self.table.to_json(path)

    def to_pandas(self) -> Any:
        return self.table.to_pandas()

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def _row(tensor: CheckpointTensor) -> Row:
    cells: dict[str, Any] = {
        "tensor": tensor.name,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
        "params": tensor.numel,
        "bytes": tensor.bytes,
    }
    stats = tensor.stats
    bad = False
    if stats is not None:
        bad = bool(stats.nan + stats.pos_inf + stats.neg_inf)
        cells.update(mean=stats.mean, std=stats.std, min=stats.min, max=stats.max, norm=stats.norm)
        cells.update(nan=stats.nan, inf=stats.pos_inf + stats.neg_inf)
        cells["zero_percent"] = 100 * stats.zeros / stats.numel if stats.numel else None
    mark = f"same as {tensor.same_as}" if tensor.same_as else ""
    return Row(tensor.name, cells, 0, mark, "bold red" if bad else "")


def read_checkpoint(path: str | Path, *, statistics: bool = True) -> Checkpoint:
    """Read a file of weights; `statistics=False` for names and shapes only."""
    path = Path(path)
    if path.is_dir():
        raise NotFound(f"{str(path)!r} is a folder; name the checkpoint file inside it")
    if not path.is_file():
        raise NotFound(f"there is no file {str(path)!r}; check the path")
    if path.suffix == ".safetensors" or looks_like_safetensors(path):
        stored, metadata = read_header(path)
        tensors = [CheckpointTensor(t.name, t.shape, t.dtype, t.bytes, t.pieces) for t in stored]
        found = Checkpoint(str(path), "safetensors", tensors, dict(metadata))
    else:
        tensors, facts = tensors_of(load_safely(path))
        found = Checkpoint(str(path), "torch", tensors, facts)
    if statistics:
        for tensor in found.tensors:
            tensor.take_stats()
    return found


def load_safely(path: str | Path, device: Any = "cpu") -> Any:
    """`torch.load` with `weights_only=True`, memory-mapped if possible."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("reading a torch checkpoint", "torch", extra="torch") from None
    options: dict[str, Any] = {"map_location": device, "weights_only": True}
    if is_zip(path):
        check_zip(path, ratio=_UNFOLDS, free=_FREE)
        options["mmap"] = str(device) == "cpu"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecation of storage classes, when loading old files
            return torch.load(path, **options)
    except pickle.UnpicklingError as fault:
        raise BadData(_refusal(path, str(fault))) from None
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, AttributeError, TypeError, IndexError) as fault:
        words = clean(str(fault).split("\n")[0])
        if "torchscript" in words.lower():
            raise BadData(f"{path} is a TorchScript archive, not a state dict; load it with torch.jit.load") from None
        raise BadData(f"{path} {_trouble(Path(path), f'{type(fault).__name__}: {words}')}") from None


def _trouble(path: Path, fault: str) -> str:
    """Why torch cannot read a file, from its size and first bytes."""
    length = path.stat().st_size
    with open_file(path) as file:
        start = read_window(file, 0, 4)
    if not length:
        return "is empty (0 bytes): perhaps writing it was interrupted"
    if start[:2] == b"PK" and not is_zip(path):
        return f"is truncated or damaged: it begins as a torch checkpoint, but its end is missing ({length:,} bytes)"
    if start[:2] != b"PK" and start[:1] != b"\x80":
        return "is not a torch checkpoint: it starts neither as a zip archive nor as a pickle"
    return f"could not be read as a torch checkpoint; it may be damaged ({fault})"


def _refusal(path: str | Path, message: str) -> str:
    import re

    named = re.search(r"(?:GLOBAL|Unsupported global:?|class)\s+(?:GLOBAL\s+)?([\w.]+\.[\w.]+)", message)
    what = f"it wants to import {named[1]}" if named else "it is not a plain checkpoint of tensors"
    return (
        f"{path} was rejected: {what}, and unpickling that would run its code. If you trust the "
        "file, load it yourself and save the tensors alone: torch.save(model.state_dict(), path)"
    )


def tensors_of(held: Any) -> tuple[list[CheckpointTensor], dict[str, Any]]:
    """The tensors in nested dicts and lists by dotted name, and everything else as facts."""
    tensors: list[CheckpointTensor] = []
    facts: dict[str, Any] = {}
    memory: dict[tuple[int, tuple[int, ...], str], str] = {}
    seen: set[int] = set()

    def walk(value: Any, name: str) -> None:
        if hasattr(value, "untyped_storage") and hasattr(value, "requires_grad"):
            tensors.append(_of_torch(value, name or "(tensor)", memory))
        elif isinstance(value, (list, tuple)) and _is_plain_list(value):
            if len(facts) < _MOST_FACTS:
                facts[name or "(value)"] = _short_list(value)
        elif isinstance(value, (Mapping, list, tuple)):
            if id(value) in seen:
                return
            seen.add(id(value))
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            for key, inner in pairs:
                walk(inner, f"{name}.{key}" if name else str(key))
        elif len(facts) < _MOST_FACTS:
            facts[name or "(value)"] = value if isinstance(value, (int, float, bool, str)) else str(value)[:200]

    walk(held, "")
    return tensors, facts


def _is_plain_list(value: list[Any] | tuple[Any, ...]) -> bool:
    """Betas, parameter numbers, class names: one fact, not one each."""
    return bool(value) and all(isinstance(one, (int, float, str)) for one in value)


def _short_list(value: list[Any] | tuple[Any, ...]) -> str:
    shown = ", ".join(str(one)[:40] for one in value[:6])
    return f"[{shown}{f', ... {len(value) - 6} more' if len(value) > 6 else ''}]"


def _of_torch(tensor: Any, name: str, memory: dict[tuple[int, tuple[int, ...], str], str]) -> CheckpointTensor:
    import torch

    strided = tensor.layout is torch.strided
    pointer = tensor.data_ptr() if strided and not tensor.is_meta else 0
    dtype = str(tensor.dtype).removeprefix("torch.")
    key = (pointer, tuple(tensor.shape), dtype)
    same_as = memory.setdefault(key, name) if pointer and tensor.numel() else name
    count = int(tensor.numel()) if strided else int(tensor._nnz())
    readable = not tensor.is_meta
    return CheckpointTensor(
        name=name,
        shape=tuple(tensor.shape),
        dtype=dtype,
        bytes=count * tensor.element_size(),
        pieces=lambda: torch_pieces(tensor) if readable else None,
        same_as=same_as if same_as != name else None,
    )
