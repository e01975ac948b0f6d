"""Traces of any size out of one that was really recorded: its steps again and again, with times and ids moved on.

The sample is `tests/samples/traces/h200.json.gz`: two steps of a small GPT on an H200 with shapes, stacks, modules and
memory. Every copy is later by the length of the sample, and its ids (correlations, External ids, sequence and step
numbers, Python calls) are larger, so that a copy is linked within itself as the recorded steps are. Written as torch
writes: an event over several lines.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parent.parent / "tests" / "samples" / "traces" / "h200.json.gz"
_IDS = ("External id", "correlation", "Ev Idx", "Sequence number", "Python id", "Python parent id")
_MARK = "\x01"


def make_trace(path: Path, megabytes: float) -> int:
    """Write a trace of about that size; says how many events it has."""
    trace = json.loads(gzip.decompress(SAMPLE.read_bytes()))
    events = trace.pop("traceEvents")
    once = [event for event in events if event["ph"] == "M" or event.get("cat") in (None, "Trace")]
    again = [event for event in events if event["ph"] != "M" and event.get("cat") not in (None, "Trace")]
    begin = min(event["ts"] for event in again)
    period = max(event["ts"] + event.get("dur", 0) for event in again) - begin + 100
    widest = {key: 1 + max(_numbers(again, key), default=0) for key in _IDS}
    flow = 1 + max((event["id"] for event in again if "id" in event), default=0)
    steps = 1 + _steps(again)
    templates = [_template(event) for event in again]
    count = len(once)
    with path.open("w") as file:
        file.write(json.dumps(trace, indent=2)[:-2] + ',\n  "traceEvents": [\n')
        copy = 0
        while file.tell() < megabytes * 1e6:
            shift = {key: copy * wide for key, wide in widest.items()}
            for event, (text, moved) in zip(again, templates, strict=True):
                file.write(text % tuple(_moved(event, one, copy, period, shift, flow, steps) for one in moved))
            count += len(again)
            copy += 1
        file.write(",\n".join(_text(event) for event in once) + "\n  ]\n}\n")
    return count


def _numbers(events: list[Any], key: str) -> list[int]:
    return [event["args"][key] for event in events if isinstance(event.get("args", {}).get(key), int)]


def _steps(events: list[Any]) -> int:
    found = {int(match[1]) for event in events if (match := re.match(r"ProfilerStep#(\d+)", event["name"]))}
    return max(found) - min(found)


def _text(event: Any) -> str:
    """As Kineto lays an event out."""
    head = ", ".join(
        f"{json.dumps(key)}: {json.dumps(event[key])}" for key in event if key not in ("args", "ts", "dur")
    )
    times = ", ".join(f'"{key}": {event[key]}' for key in ("ts", "dur") if key in event)
    args = ""
    if "args" in event:
        inside = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in event["args"].items())
        args = f',\n    "args": {{\n      {inside}\n    }}'
    return f"  {{\n    {head},\n    {times}{args}\n  }}"


def _template(event: Any) -> tuple[str, list[str]]:
    """The text of an event with a %s for everything that a copy moves, and what those are."""
    moved = [key for key in ("ts", "id") if key in event]
    moved += [key for key in _IDS if isinstance(event.get("args", {}).get(key), int)]
    if event["name"].startswith("ProfilerStep#"):
        moved.append("name")
    marked = json.loads(json.dumps(event))
    for key in moved:
        (marked if key in ("ts", "id", "name") else marked["args"])[key] = f"{_MARK}{key}{_MARK}"
    if "ts" in marked:
        marked["ts"] = json.dumps(marked["ts"])
    text = _text(marked).replace("%", "%%")
    order: list[str] = []

    def place(found: re.Match[str]) -> str:
        order.append(found[1])
        return "%s"

    text = re.sub(r'"\\u0001(.+?)\\u0001"', place, text)
    return text + ",\n", order


def _moved(event: Any, key: str, copy: int, period: float, shift: dict[str, int], flow: int, steps: int) -> str:
    if key == "ts":
        return f"{event['ts'] + copy * period:.3f}"
    if key == "id":
        return str(event["id"] + copy * flow)
    if key == "name":
        name, number = event["name"].split("#")
        return f'"{name}#{int(number) + copy * steps}"'
    return str(event["args"][key] + shift[key])
