"""Every reader of bytes that somebody else may have made, as `target(data)`: it may refuse, in our words, and no more.

`TARGETS` has the function and some sound inputs for each. Formats with checksums get theirs put right after the change,
else nothing but the checksum would ever be tried.
"""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from tests.fuzz.imports import IMPORTS

from stepscope.errors import StepscopeError
from stepscope.records import Alert, ConfigUpdate, Console, End, FileHeader, Media, NotesChange, RunMeta
from stepscope.runs.format.frames import Kind, encode, scan

__all__ = ["TARGETS", "Target"]


@dataclass(frozen=True)
class Target:
    """One reader, and inputs that it reads."""

    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    refusals: tuple[type[Exception], ...] = (StepscopeError,)
    """What it may raise; anything else is a fault."""

    def __call__(self, data: bytes) -> None:
        try:
            self.read(data)
        except self.refusals:
            pass


@cache
def _folder() -> Path:
    place = TemporaryDirectory(prefix="stepscope-fuzz-")
    _KEPT.append(place)
    return Path(place.name)


_KEPT: list[TemporaryDirectory[str]] = []


def _file(data: bytes, name: str) -> Path:
    path = _folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# -- logs -----------------------------------------------------------------------------------------------------------

_HEADER = msgspec.msgpack.encode(FileHeader(run_id="r", file_id="F.points.0", host="h", pid=1, base_time=1.79e9))
_EVENTS = (
    ConfigUpdate(time=1.0, values={"lr": 0.1}),
    NotesChange(time=2.0, text="größer"),
    Alert(time=3.0, title="loss is NaN", level="error", step=4),
    End(time=9.0, status="finished"),
)


def _frames() -> list[bytes]:
    rows = [struct.pack("<IIqdd", 1, at, at, at / 3, float("nan")) for at in range(40)]
    payloads: list[tuple[int, bytes]] = [
        (Kind.HEADER, _HEADER),
        (Kind.DEFINE, msgspec.msgpack.encode([1, ["loss", "acc"]])),
        *((Kind.ROW, row) for row in rows),
        (Kind.WIDE, msgspec.msgpack.encode([1.0, 41, {"loss": 2**60}])),
        (
            Kind.MEDIA,
            msgspec.msgpack.encode(Media(key="k", step=1, time=1.0, kind="text", mime="text/plain", data=b"x")),
        ),
        (Kind.CONSOLE, msgspec.msgpack.encode(Console(time=1.0, stream="stdout", text="epoch 1\n"))),
        *((Kind.EVENT, msgspec.msgpack.encode(event)) for event in _EVENTS),
        (Kind.HEARTBEAT, struct.pack("<d", 1.79e9)),
        (Kind.SEAL, b""),
    ]
    return [encode(kind, seq, payload) for seq, (kind, payload) in enumerate(payloads)]


def read_frames(data: bytes) -> None:
    from stepscope.runs.compact.source import read_sections, read_source
    from stepscope.runs.read.logs import LogReader

    list(scan(data))
    path = _file(data, "a.log")
    for sections in (False, True):
        reader = LogReader(path, sections=sections)
        reader.poll()
        reader.poll(final=True)
    for read in (read_source, lambda _: list(read_sections(data))):
        try:
            read(path)
        except StepscopeError:
            continue


def read_records(data: bytes) -> None:
    """Frames whose checksums are right and whose content is anything: kind, length, payload, and so on."""
    made = [encode(Kind.HEADER, 0, _HEADER)]
    at = 0
    while at + 2 <= len(data) and len(made) < 200:
        kind, length = data[at] % (max(Kind) + 2), 16 * data[at + 1]
        made.append(encode(kind, len(made), data[at + 2 : at + 2 + length]))
        at += 2 + length
    read_frames(b"".join(made))


def _records() -> list[bytes]:
    payloads = ((frame[2], frame[16:]) for frame in _frames())
    return [b"".join(bytes((kind, -(-len(data) // 16))) + data + bytes(-len(data) % 16) for kind, data in payloads)]


def read_run(data: bytes) -> None:
    """A run folder: `meta.json`, then a log, apart by a line of their own."""
    from stepscope.runs.read.folder import open_run

    meta, _, log = data.partition(b"\n--log--\n")
    _file(meta, "run/meta.json")
    _file(log, "run/h.0.1.b.F.points.000000.log")
    folder = open_run(_folder() / "run")
    folder.refresh()
    for name in folder.metrics()[:20]:
        folder.series(name, superseded=True)
        folder.metric_summary(name)
    _ = folder.meta, folder.summary, folder.standing, folder.attempts, folder.damage, folder.media(), folder.console()


def _runs() -> list[bytes]:
    meta = RunMeta(id="01JCQ4ZZZZZZZZZZZZZZZZZZZZ", project="p", name="n", created=1.79e9, config={"lr": 0.1})
    return [msgspec.json.encode(meta) + b"\n--log--\n" + b"".join(_frames())]


# -- queries --------------------------------------------------------------------------------------------------------


@cache
def _entry() -> Any:
    from stepscope.runs.catalogue.index import Index
    from stepscope.runs.catalogue.store_scan import StoreScan

    read_run(_runs()[0])
    (_folder() / "store").mkdir()
    (_folder() / "run").rename(_folder() / "store" / "run")
    scan = StoreScan(_folder() / "store", Index(_folder() / "cache"))
    scan.refresh(1.8e9, lambda done, total: None)
    return scan.entries[0][1]


def read_query(data: bytes) -> None:
    from stepscope.runs.query.query import parse, parse_field

    text = data.decode("utf-8", "replace")
    try:
        parse_field(text)
    except StepscopeError:
        pass
    parse(text).matches(_entry(), 1.79e9)


def _queries() -> list[bytes]:
    return [
        b"loss.min < 0.3 and config.lr in (0.1, 1e-3) or not tags = 'a'",
        b"name ~ 'resnet.*' and age < 3d", b'status != failed and (a > 1 or b)', b"config.opt.lr",
    ]  # fmt: skip


# -- other tools' files -----------------------------------------------------------------------------------------------


def read_events(data: bytes) -> None:
    """An event file of TensorBoard: as it is, and as one record whose checksums are right."""
    from stepscope.eventfiles.reader import EventFile, first_events
    from stepscope.eventfiles.records import encode_record

    for content in (data, encode_record(data)):
        path = _file(content, "events.out.tfevents.1.h")
        first_events(path)
        file = EventFile(path)
        for _ in range(4):
            if file.read() is None:
                break


def _event_files() -> list[bytes]:
    from stepscope.eventfiles.records import encode_record
    from stepscope.eventfiles.write import event, text, version

    scalar = b"\x09" + bytes(8) + b"\x10\x03\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0?"
    note = event(1.79e9, 3, text("note", "hello"))
    return [scalar, note[12:-4], version(1.79e9) + encode_record(scalar) + note]


def read_wandb(data: bytes) -> None:
    """A W&B file of one record whose checksum is right."""
    from stepscope.importers.wandb import WandbFolder

    part = data[:30000]
    log = b":W&B\xe1\xbe\0" + struct.pack("<IHB", zlib.crc32(part, zlib.crc32(b"\1")), len(part), 1) + part
    _file(log, "wandb/run-1-a/run-a.wandb")
    source = WandbFolder(_folder() / "wandb")
    for run in source.runs():
        list(source.read(run, None))


def _wandb() -> list[bytes]:
    def field(number: int, data: bytes) -> bytes:
        return bytes((number << 3 | 2, len(data))) + data

    item = field(1, field(2, b"loss") + field(16 & 0xF, b"0.5"))
    run = field(1, b"abc") + field(3, b"digits") + field(8, b"name") + field(10, b"tag")
    return [field(17, run), field(2, item), field(5, b'{"a": 1}'), bytes((8, 1)) + field(2, item)]


def read_aim(data: bytes) -> None:
    """A message of the process that reads an Aim folder."""
    from stepscope.importers.aim.reader import _message, _pieces

    list(_pieces(_message(data)))


def _aim() -> list[bytes]:
    base: dict[str, Any] = {
        "name": "loss",
        "context": {"subset": "val"},
        "step": 1,
        "time": 1.0,
        "index": 0,
        "count": 1,
    }
    messages: list[dict[str, Any]] = [
        {"is": "numbers", "steps": [0, 1], "times": [1.0, 2.0], "values": [0.5, 0.25]},
        {"is": "record", "level": 40, "text": "bad"},
        {"is": "text", "text": "hello"},
        {"is": "figure", "text": '{"data": [], "layout": {}}'},
        {"is": "distribution", "counts": [1, 2], "low": 0.0, "high": 1.0},
        {"is": "image", "data": b"\x89PNG\r\n\x1a\n" + bytes(40), "caption": "c"},
    ]
    return [msgspec.msgpack.encode({**base, **message}) for message in messages]


def read_yaml(data: bytes) -> None:
    from stepscope.files.yaml_text import load_yaml

    load_yaml(data[:1024].decode("utf-8", "replace"), "config.yaml")


# -- profiles, checkpoints, steps -------------------------------------------------------------------------------------


def read_traces(data: bytes) -> None:
    from stepscope.profile.trace.read import read_trace

    path = _file(data, "trace.json")
    for scanner in ("auto", "wheel"):
        try:
            read_trace(path, scanner=scanner, cache=False)  # type: ignore[arg-type]
        except StepscopeError:
            continue


def _traces() -> list[bytes]:
    events = [
        {"ph": "M", "pid": 1, "tid": 1, "name": "process_name", "args": {"name": "python"}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, "args": {"a": [1]}},
        {"ph": "X", "cat": "kernel", "name": "k\"<>", "pid": 0, "tid": 7, "ts": 2, "dur": 9, "args": {"stream": 7}},
        {"ph": "s", "id": 3, "pid": 1, "tid": 1, "ts": 1.5, "cat": "ac2g", "name": "ac2g"},
    ]  # fmt: skip
    whole = {"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": events, "traceName": "x"}
    return [
        json.dumps(whole).encode(),
        json.dumps(events).encode(),
        zlib.compress(json.dumps(whole).encode(), wbits=31),
    ]


def read_prof(data: bytes) -> None:
    from stepscope.profile.python.prof_file import stats_in

    stats_in(data)


def _profs() -> list[bytes]:
    import marshal

    key, caller = ("a.py", 3, "step"), ("a.py", 1, "main")
    stats = {key: (1, 2, 0.5, 0.6, {caller: (1, 1, 0.5, 0.6)}), caller: (1, 1, 0.1, 0.7, {})}
    return [marshal.dumps(stats, version) for version in (2, 4)]


def read_safetensors(data: bytes) -> None:
    from stepscope.inspect.checkpoint import read_checkpoint

    read_checkpoint(_file(data, "a.safetensors"))


def _safetensors() -> list[bytes]:
    header = json.dumps(
        {"__metadata__": {"a": "b"}, "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
         "b": {"dtype": "BF16", "shape": [4], "data_offsets": [16, 24]}}
    ).encode()  # fmt: skip
    return [struct.pack("<Q", len(header)) + header + bytes(range(24))]


def read_capsule(data: bytes) -> None:
    from stepscope.launch.capsule.manifest import read_manifest

    read_manifest(data, "capsule.json")


def _capsules() -> list[bytes]:
    source = {"path": "/x/train.py", "inner": "source/train.py", "sha256": "0" * 64}
    return [
        json.dumps({"why": "error", "sources": [source], "step": 3, "argv": ["train.py"], "error": "boom"}).encode(),
        b'{"sources": [{"path": "a", "inner": "../b", "sha256": ""}]}',
    ]


def read_step(data: bytes) -> None:
    """A recorded step whose compression is right."""
    from stepscope.record.serialise import unpack

    unpack(b"STEPSCOPE\0" + bytes([1]) + zlib.compress(data, 1))


def _steps() -> list[bytes]:
    return [msgspec.msgpack.encode({"ops": [], "tensors": []}), msgspec.msgpack.encode({})]


def read_snapshot(data: bytes) -> None:
    from stepscope.profile.memory.plain_pickle import read_plain_pickle
    from stepscope.profile.memory.snapshot import snapshot_of

    snapshot_of(read_plain_pickle(data, "snapshot.pickle"))


def _snapshots() -> list[bytes]:
    import pickle

    block = {"size": 512, "requested_size": 500, "address": 7, "state": "active_allocated", "frames": []}
    segment = {"address": 7, "total_size": 2048, "stream": 0, "segment_type": "small", "device": 0, "blocks": [block]}
    trace = {
        "action": "alloc",
        "addr": 7,
        "size": 512,
        "stream": 0,
        "frames": [{"filename": "a.py", "line": 1, "name": "f"}],
    }
    return [pickle.dumps({"segments": [segment], "device_traces": [[trace]]}, protocol) for protocol in (2, 4)]


def read_speedscope(data: bytes) -> None:
    from stepscope.profile.python.collapsed import collapsed_in
    from stepscope.profile.python.speedscope import speedscope_in

    try:
        speedscope_in(data)
    except StepscopeError:
        collapsed_in(data.decode("utf-8", "replace"))


def _speedscopes() -> list[bytes]:
    profile = {
        "type": "sampled",
        "name": "t",
        "unit": "seconds",
        "startValue": 0,
        "endValue": 1,
        "samples": [[0, 1]],
        "weights": [1],
    }
    shared = {"frames": [{"name": "a", "file": "a.py", "line": 1}, {"name": "b"}]}
    return [json.dumps({"shared": shared, "profiles": [profile]}).encode(), b"main;train;step 12\nmain 3\n"]


def read_columns(data: bytes) -> None:
    """An event table: its index, with the checksum put right, and its blocks."""
    from stepscope.profile.trace.columns import COLUMNS_FORMAT, MAGIC, load_events

    index, _, blocks = data.partition(b"\n--blocks--\n")
    head = struct.pack("<8sHII", MAGIC, COLUMNS_FORMAT, len(index), zlib.crc32(index))
    load_events(_file(head + index + blocks, "rank0.events"))


def _columns() -> list[bytes]:
    from stepscope.profile.trace.columns import save_events
    from stepscope.profile.trace.read import read_trace

    save_events(read_trace(_file(_traces()[0], "t.json"), cache=False), _folder() / "t.events")
    raw = (_folder() / "t.events").read_bytes()
    length = struct.unpack_from("<8sHII", raw)[2]
    return [raw[18 : 18 + length] + b"\n--blocks--\n" + raw[18 + length :]]


def _texts(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


_AIM = (StepscopeError, ValueError, TypeError, LookupError, AttributeError, OverflowError)
"""What the reader of Aim's messages catches around it; they come from a process of ours."""

# -- evidence -------------------------------------------------------------------------------------------------------


def read_evidence(data: bytes) -> object:
    """Unpacked evidence; it is packed here, so that its checksum is right."""
    from stepscope.evidence.bundle import unpack

    return unpack(gzip.compress(data, 1, mtime=0))


@cache
def _evidence() -> list[bytes]:
    from stepscope.evidence.bundle import Bundle, pack
    from stepscope.evidence.losses import LossCall, Losses
    from stepscope.evidence.modules import Module
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit, Visits
    from stepscope.records.place import Place
    from stepscope.records.step import Site

    place = Place("train.py", "main", 1, Site(file="train.py", line=3, function="main"))
    losses, visits, before = Losses(), Visits(), Origin("linear", (), place)
    for step in range(6):
        visit = Visit(Module(step, ("Net", "Module")), True, None, place)
        made = Origin("mean", (before,), place)
        made.index, made.visit, made.value = step + 1, visit, step / 7
        call = LossCall("mse_loss", place, step, step)
        call.origins, call.shapes, call.result = {"input": made}, {"input": (4, 2)}, made
        losses.calls.append(call)
        visits.roots.append(visit)
        before = made
    found = {"losses": losses, "visits": visits}
    return [gzip.decompress(pack(Bundle(found, sources={"train.py": "x = 1\n"}), strict=True))]


TARGETS: dict[str, Target] = {
    "evidence": Target(read_evidence, _evidence),
    "frames": Target(read_frames, lambda: [b"".join(_frames())]),
    "records": Target(read_records, _records),
    "run": Target(read_run, _runs),
    "query": Target(read_query, _queries),
    "eventfile": Target(read_events, _event_files),
    "wandb": Target(read_wandb, _wandb),
    "aim": Target(read_aim, _aim, _AIM),
    "yaml": Target(read_yaml, _texts("a: {value: 1, desc: null}\nb: [1, 2]\nc: &x {d: e}\nf: *x\n", "- 1\n- x: y\n")),
    "trace": Target(read_traces, _traces),
    "prof": Target(read_prof, _profs),
    "safetensors": Target(read_safetensors, _safetensors),
    "capsule": Target(read_capsule, _capsules),
    "step": Target(read_step, _steps),
    "snapshot": Target(read_snapshot, _snapshots),
    "speedscope": Target(read_speedscope, _speedscopes),
    "columns": Target(read_columns, _columns),
    **{name: Target(read, seeds) for name, (read, seeds) in IMPORTS.items()},
}
