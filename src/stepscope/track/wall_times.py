"""Values of another time than now: the wall time that other tools' loggers accept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepscope.track.run import Run
from stepscope.track.values import DeviceScalar, NotScalar, Refused, converter, flat


def log_at(run: Run, values: Mapping[Any, Any], step: int, time: float) -> None:
    """Record values at a step, as of unix time `time`. Slower than `run.log`, and waits for a GPU."""
    if run.path is None or run.is_finished:
        return
    others: dict[str, Any] = {}
    for name, value in flat(values).items():
        try:
            number = converter(type(value))(value)
        except NotScalar:
            others[name] = value
            continue
        except (Refused, RuntimeError, TypeError, ValueError, OverflowError) as reason:
            run._sink.refused(name, type(value).__name__, str(reason))
            continue
        number = float(value.item() if isinstance(number, DeviceScalar) else number)
        run._writer.columns(name, [step], [time], [number])
    if others:
        run._sink.media(others, step, time)
