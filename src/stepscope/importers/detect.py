"""Detect which tool wrote a folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from stepscope.errors import NotFound, UsageError
from stepscope.importers.foreign import Source

KINDS = ("tensorboard", "wandb", "mlflow", "trackio", "aim")
"""Each is a module here with `find(path) -> Source | None`, tried in this order."""


def sources_in(path: Path, kind: str | None = None) -> Iterator[Source]:
    """Every tool (or the one of that kind) that finds its runs under `path`."""
    if path.is_symlink() and path.is_file():  # a link to a file that the user named is intended
        path = path.resolve()
    for name in KINDS if kind is None else (kind,):
        found: Source | None = import_module(f"stepscope.importers.{name}").find(path)
        if found is not None:
            yield found


def find_sources(text: str, kind: str | None = None) -> list[Source]:
    """A user's argument: a path, or several in TensorBoard's form, `name:path,name:path`."""
    from stepscope.importers.tensorboard import TensorBoardSource, named_folders

    named = named_folders(text) if kind in (None, "tensorboard") else None
    if named is None:
        return [find_source(Path(text).expanduser(), kind)]
    for _, path in named:
        find_source(path.expanduser(), "tensorboard")
    return [TensorBoardSource(path.expanduser(), name) for name, path in named]


def find_source(path: Path, kind: str | None = None) -> Source:
    """The source at `path`; if there is none, or several, the error says what was searched for."""
    if kind is not None and kind not in KINDS:
        raise UsageError(f"'{kind}' is not a supported kind of run folder; choose one of {', '.join(KINDS)}")
    if not path.exists():
        raise NotFound(f"there is nothing at {path}; give a folder that TensorBoard, W&B, MLflow, trackio or Aim wrote")
    found = list(sources_in(path, kind))
    if not found:
        wanted = _LOOKED_FOR[kind] if kind is not None else " or ".join(_LOOKED_FOR.values())
        raise NotFound(f"{path} has no runs of {wanted}; give the folder that has them")
    if len(found) > 1:
        kinds = ", ".join(source.kind for source in found)
        raise UsageError(f"{path} has runs of several tools ({kinds}); choose one with --from, or give its own folder")
    return found[0]


_LOOKED_FOR = {
    "tensorboard": "TensorBoard (events.out.tfevents.*)",
    "wandb": "W&B (offline-run-*/run-*.wandb)",
    "mlflow": "MLflow (mlruns, mlflow.db)",
    "trackio": "trackio (*.db, parquet)",
    "aim": "Aim (.aim)",
}
