"""Which tool wrote a folder, told from what lies in it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from stepscope.errors import NotFound, UsageError
from stepscope.importers.foreign import Source

__all__ = ["KINDS", "find_source", "sources_in"]

KINDS = ("tensorboard", "wandb", "mlflow", "trackio", "aim")
"""Each is a module here with `find(path) -> Source | None`, asked in this order."""


def sources_in(path: Path) -> Iterator[Source]:
    """Every tool that finds runs of its own under `path`."""
    for kind in KINDS:
        found = import_module(f"stepscope.importers.{kind}").find(path)
        if found is not None:
            yield found


def find_source(path: Path, kind: str | None = None) -> Source:
    """The source at `path`; an error that says what was looked for when there is none, or several."""
    if not path.exists():
        raise NotFound(f"there is nothing at {path}; give a folder that TensorBoard, W&B, MLflow, trackio or Aim wrote")
    if kind is not None and kind not in KINDS:
        raise UsageError(f"'{kind}' is no kind of run folder we read; choose one of {', '.join(KINDS)}")
    found = [source for source in sources_in(path) if kind in (None, source.kind)]
    if not found:
        raise NotFound(
            f"{path} holds no runs of TensorBoard (events.out.tfevents.*), W&B (offline-run-*/run-*.wandb), "
            "MLflow (mlruns, mlflow.db), trackio (*.db, parquet) or Aim (.aim)"
        )
    if len(found) > 1:
        kinds = ", ".join(source.kind for source in found)
        raise UsageError(
            f"{path} holds runs of several tools ({kinds}); choose one with --from, or give its own folder"
        )
    return found[0]
