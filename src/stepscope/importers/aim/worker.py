"""The only file that imports Aim. It runs in a separate process, so that side effects stay there.

Reads requests as lines of JSON and answers with length-prefixed msgpack messages: `list` returns the runs, `read` one
run's data that is newer than the times in `since`.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

Message = dict[str, Any]
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""Exceptions that Aim raises for damaged or foreign data; anything else ends this process, and the parent reports it.
"""


def main(root: str) -> None:
    """Serve requests until the other side closes."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Aim's own output must not mix with the messages
    import warnings

    warnings.simplefilter("ignore")
    from aim.sdk.repo import Repo

    repo = Repo(root)
    for line in sys.stdin:
        request = json.loads(line)
        answers = _listed(repo, root) if request["do"] == "list" else _read(repo, request["run"], request["since"])
        try:
            for message in answers:
                _send(out, message)
        except FAULTS as fault:
            _send(out, {"is": "fault", "text": f"{type(fault).__name__}: {fault}"})
        _send(out, {"is": "end"})


def _send(out: BinaryIO, message: Message) -> None:
    data = msgspec.msgpack.encode(message)
    out.write(struct.pack("<I", len(data)) + data)
    out.flush()


def _listed(repo: Any, root: str) -> Iterator[Message]:
    from aim.sdk.run import Run

    for number in sorted(os.listdir(os.path.join(root, ".aim", "meta", "chunks"))):
        try:
            run = Run(number, repo=repo, read_only=True)
            yield {
                "is": "run",
                "id": number,
                "name": str(run.name or number),
                "experiment": str(run.experiment or "default"),
                "description": str(run.description or ""),
                "tags": [str(tag) for tag in run.tags] + (["archived"] if run.archived else []),
                "created": float(run.creation_time),
                "ended": run.end_time,
                "attrs": _plain(run.meta_run_tree.collect().get("attrs", {})),
            }
        except FAULTS as fault:
            yield {"is": "trouble", "text": f"run {number} cannot be read: {type(fault).__name__}: {fault}"}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _read(repo: Any, number: str, since: dict[str, float]) -> Iterator[Message]:
    from aim.sdk.run import Run
    from aim.sdk.sequence import Sequence
    from aim.storage.context import Context

    run = Run(number, repo=repo, read_only=True)
    tree = run.meta_run_tree.collect()
    for context, names in tree.get("traces", {}).items():
        said = tree.get("contexts", {}).get(context) or {}
        for name, facts in names.items():
            sequence = Sequence(name, Context(said), run)
            key = f"{context}/{name}"
            try:
                steps, (values, _, times) = sequence.data.items_list()
            except ValueError:  # nothing was tracked yet
                continue
            if not times and facts.get("last_step") is not None:  # Aim silently skips what RocksDB cannot read
                words = f"run {number}: '{name}' was tracked up to step {facts['last_step']}, but has no values"
                yield {"is": "trouble", "text": words}
            new = [at for at, time in enumerate(times) if time is not None and time > since.get(key, 0.0)]
            if new:
                last = max(float(times[at]) for at in new)
                place = {"name": str(name), "context": _plain(said), "key": key, "last": last}
                kind = str(facts.get("dtype"))
                yield from _sequence(place, kind, [(steps[at], times[at], values[at]) for at in new])


def _sequence(place: Message, kind: str, points: list[tuple[Any, Any, Any]]) -> Iterator[Message]:
    numbers = [point for point in points if isinstance(point[2], (int, float))]
    if kind in ("int", "float", "number") or len(numbers) == len(points):
        yield {
            **place,
            "is": "numbers",
            "steps": [int(step) for step, _, _ in numbers],
            "times": [float(time) for _, time, _ in numbers],
            "values": [float(value) for _, _, value in numbers],
        }
        return
    for step, time, value in points:
        things = value if isinstance(value, (list, tuple)) else [value]
        for index, thing in enumerate(things):
            at = {**place, "step": int(step), "time": float(time), "index": index, "count": len(things)}
            yield {**at, **_thing(thing)}


def _thing(value: Any) -> Message:
    kind = type(value).__name__
    try:
        if kind == "Image":
            return {"is": "image", "data": bytes(value.storage["data"]), "caption": str(value.caption or "")}
        if kind == "Audio":
            caption = value.storage["caption"]
            return {"is": "audio", "data": bytes(value.storage["data"]), "caption": str(caption or "")}
        if kind == "Text":
            return {"is": "text", "text": str(value.data)}
        if kind == "Distribution":
            low, high = value.range
            return {"is": "distribution", "counts": [float(each) for each in value.weights], "low": low, "high": high}
        if kind == "Figure":
            return {"is": "figure", "text": str(value.data)}
        if kind == "LogLine":
            return {"is": "line", "text": str(value.data)}
        if kind == "LogRecord":
            return {"is": "record", "text": str(value.message), "level": int(value.level)}
    except FAULTS as fault:
        return {"is": "trouble", "text": f"a {kind} cannot be read: {type(fault).__name__}: {fault}"}
    return {"is": "text", "text": str(value)}


if __name__ == "__main__":
    main(sys.argv[1])
