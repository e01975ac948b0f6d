"""JSON, in one document or a line per point.

It is valid JSON for every parser: NaN and infinities are the strings "NaN", "Infinity" and "-Infinity", so
nothing is dropped or turned into null.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

_BLOCK = 4096
_encode = msgspec.json.Encoder(enc_hook=str).encode


def json_document(run: RunFolder, names: Sequence[str]) -> Iterator[bytes]:
    """One object: the run's description, its config and summary, and `series` with the columns of each."""
    yield _encode(jsonable(_about(run)))[:-1] + b',"series":{'
    for at, name in enumerate(names):
        series = run.series(name)
        yield (b"," if at else b"") + _encode(_text(name)) + b":{"
        for key, column in (("steps", series.steps), ("times", series.times), ("values", series.values)):
            yield (b"" if key == "steps" else b",") + _encode(key) + b":["
            for start in range(0, len(column), _BLOCK):
                block = _encode(_safe_numbers(column[start : start + _BLOCK].tolist()))
                yield (b"," if start else b"") + block[1:-1]
            yield b"]"
        yield b"}"
    yield b"}}\n"


def json_lines(run: RunFolder, names: Sequence[str]) -> Iterator[bytes]:
    """A line per point: `{"series": "loss", "step": 0, "time": 1.0, "value": 0.5}`."""
    for name in names:
        series = run.series(name)
        prefix = b'{"series":' + _encode(_text(name)) + b',"step":'
        for start in range(0, len(series.values), _BLOCK):
            part = slice(start, start + _BLOCK)
            steps, times = series.steps[part].tolist(), _safe_numbers(series.times[part].tolist())
            values = _safe_numbers(series.values[part].tolist())
            yield b"".join(
                b'%s%d,"time":%s,"value":%s}\n' % (prefix, step, _encode(time), _encode(value))
                for step, time, value in zip(steps, times, values, strict=True)
            )


def jsonable(value: Any) -> Any:
    """The value with everything that JSON cannot represent converted to text."""
    if isinstance(value, float) and not math.isfinite(value):
        return _named(value)
    if isinstance(value, dict):
        return {_text(str(key)): jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(inner) for inner in value]
    return _text(value) if isinstance(value, str) else value


def _about(run: RunFolder) -> dict[str, Any]:
    return {
        "id": run.meta.id,
        "name": run.name,
        "project": run.project,
        "status": run.status,
        "created": run.created,
        "ended": run.ended,
        "duration_s": run.duration_s,
        "tags": list(run.tags),
        "notes": run.notes,
        "config": dict(run.config),
        "summary": dict(run.summary),
    }


def _safe_numbers(values: list[Any]) -> list[Any]:
    return [value if math.isfinite(value) else _named(value) for value in values]


def _named(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
