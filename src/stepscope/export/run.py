"""Export one run in one of the formats: to a file, a stream, or as pieces for a download."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, get_args

from stepscope.errors import StorageError, UsageError
from stepscope.export.select import choose_series

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

Format = Literal["csv", "json", "jsonl", "parquet"]
Layout = Literal["wide", "long"]
FORMATS: tuple[str, ...] = get_args(Format)


def export_run(
    run: RunFolder,
    format: str,
    out: Path | str | IO[bytes],
    names: Sequence[str] | None = None,
    layout: Layout | None = None,
) -> int:
    """Write the chosen series of a run, with every point; returns the number of series.

    `names` are names or patterns with `*`; None is all. `layout` is "wide" (a line per step, a column per series; the
    default for CSV) or "long" (a line per point; the default for Parquet). A path is replaced only when everything is
    written.
    """
    chosen = choose_series(run, names)
    if not isinstance(out, (str, os.PathLike)):
        _write(run, format, out, chosen, layout)
        return len(chosen)
    path = Path(out)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with open(part, "wb") as file:
                _write(run, format, file, chosen, layout)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as fault:
        raise StorageError(f"{path} could not be written: {fault.strerror}; choose another file") from fault
    return len(chosen)


def export_chunks(
    run: RunFolder, format: str, names: Sequence[str] | None = None, layout: Layout | None = None
) -> Iterator[bytes]:
    """The same as pieces of bytes, generated one by one; for the text formats."""
    return _text(run, format, choose_series(run, names), layout)


def _write(run: RunFolder, format: str, out: IO[bytes], names: list[str], layout: Layout | None) -> None:
    if format == "parquet":
        from stepscope.export.as_parquet import write_parquet

        write_parquet(run, names, out, wide=layout == "wide")
        return
    for piece in _text(run, format, names, layout):
        out.write(piece)


def _text(run: RunFolder, format: str, names: list[str], layout: Layout | None) -> Iterator[bytes]:
    if format == "csv":
        from stepscope.export.as_csv import long_csv, wide_csv

        return long_csv(run, names) if layout == "long" else wide_csv(run, names)
    if format in ("json", "jsonl"):
        from stepscope.export.as_json import json_document, json_lines

        return json_document(run, names) if format == "json" else json_lines(run, names)
    raise UsageError(f"there is no export format {format!r}; choose one of {', '.join(FORMATS)}")
