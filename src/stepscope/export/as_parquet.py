"""Parquet, through pyarrow if installed: typed columns for pandas, polars, DuckDB and the like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import msgspec

from stepscope.errors import MissingExtra
from stepscope.export.as_json import jsonable
from stepscope.export.wide import wide_blocks

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

_BLOCK = 1 << 16


def write_parquet(run: RunFolder, names: Sequence[str], out: IO[bytes], wide: bool = False) -> None:
    """Long: series, step, time, value. Wide: step, time and a column per series, null where it has no point.

    The run's id, name and config are in the file's metadata under `stepscope`.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing parquet", "pyarrow", extra="parquet") from None
    about = {"id": run.meta.id, "name": run.name, "project": run.project, "config": dict(run.config)}
    fields = [("step", pa.int64()), ("time", pa.timestamp("us", tz="UTC"))]
    if wide:
        fields += [(name, pa.float64()) for name in names]
    else:
        fields = [("series", pa.dictionary(pa.int32(), pa.string())), *fields, ("value", pa.float64())]
    metadata = {"stepscope": msgspec.json.encode(jsonable(about), enc_hook=str)}
    schema = pa.schema(fields, metadata=metadata)
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for arrays in _wide_arrays(run, names, pa) if wide else _long_arrays(run, names, pa):
            columns = [array.cast(kind.type) for array, kind in zip(arrays, schema, strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _long_arrays(run: RunFolder, names: Sequence[str], pa: Any) -> Iterator[list[Any]]:
    for name in names:
        series = run.series(name)
        for start in range(0, len(series.values), _BLOCK):
            part = slice(start, start + _BLOCK)
            count = len(series.values[part])
            label = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([name], pa.string()))
            yield [label, pa.array(series.steps[part]), _moments(series.times[part], pa), pa.array(series.values[part])]


def _wide_arrays(run: RunFolder, names: Sequence[str], pa: Any) -> Iterator[list[Any]]:
    for block in wide_blocks(run, names, _BLOCK):
        columns = [
            pa.array([value if there else None for value, there in zip(values, present, strict=True)], pa.float64())
            for values, present in zip(block.values, block.present, strict=True)
        ]
        yield [pa.array(block.steps, pa.int64()), _moments(block.times, pa), *columns]


def _moments(times: Any, pa: Any) -> Any:
    import numpy as np

    microseconds = np.rint(np.asarray(times, dtype=np.float64) * 1e6)
    usable = np.isfinite(microseconds) & (np.abs(microseconds) < 2**62)
    return pa.array(np.where(usable, microseconds, 0).astype(np.int64), pa.timestamp("us"), mask=~usable).cast(
        pa.timestamp("us", tz="UTC")
    )
