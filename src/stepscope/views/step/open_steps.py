"""Recorded steps that stay open between requests, with cached results for the *Step* page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from stepscope.errors import BadData, NotFound
from stepscope.inspect.arguments import argument_text
from stepscope.inspect.logged import STEP_KIND, read_logged
from stepscope.inspect.nonfinite import Birth, births, is_bad
from stepscope.inspect.step import Step
from stepscope.inspect.tally import op_time
from stepscope.inspect.visit import Lookup, OpView, place

if TYPE_CHECKING:
    from stepscope.records import Media
    from stepscope.records.step import Op, StepRecord
    from stepscope.runs.read.folder import RunFolder

MAX_BYTES = 256 << 20
_MOST_STEPS = 6
_MOST_OPS = 600_000
"""Maximum size of all open steps together."""


class OpLine(NamedTuple):
    """What the op table is filtered and sorted by."""

    op: int
    """Its index in the step."""
    name: str
    phase: str
    module: str | None
    words: str
    """Lower case, for searching."""
    time_us: float | None
    flops: int | None
    saved_bytes: int
    bad: str
    """nan, inf or "": what its outputs contained."""


class OpenStep:
    """One recorded step. Expensive results are computed once."""

    def __init__(self, record: StepRecord, media: Media) -> None:
        self.record = record
        self.media = media
        self.lookup = Lookup(record)
        self.step = Step(record)
        self.lock = threading.RLock()
        self.found: dict[object, list[OpLine]] = {}
        """The ops that passed the last filters, in order."""

    @property
    def has_stats(self) -> bool:
        return any(op.output_stats is not None or op.input_stats is not None for op in self.record.ops)

    @cached_property
    def lines(self) -> list[OpLine]:
        return [self._line(op) for op in self.record.ops]

    def _line(self, op: Op) -> OpLine:
        view = OpView(op, self.lookup)
        site = view.site
        words = [op.name, view.module or "", argument_text(op.args)]
        if site is not None:
            words += [site.file, place(site), site.function, site.text]
        return OpLine(
            op=op.index,
            name=op.name,
            phase=op.phase,
            module=view.module,
            words=" ".join(words).lower(),
            time_us=op_time(op),
            flops=op.cost.flops,
            saved_bytes=op.cost.saved_bytes,
            bad=bad_of(op),
        )

    @cached_property
    def births(self) -> list[Birth]:
        """Where values stopped being finite; those that reach the loss or a gradient first."""
        return births(self.record) if self.has_stats else []

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """Op -> the ops that read its outputs."""
        found: dict[int, list[int]] = {}
        for reader, makers in self.lookup.sources.items():
            for maker in makers:
                found.setdefault(maker, []).append(reader)
        return found


def bad_of(op: Op) -> str:
    stats = op.output_stats or ()
    if any(is_bad(one, inf=False) for one in stats):
        return "nan"
    return "inf" if any(is_bad(one) for one in stats) else ""


def recordings_of(folder: RunFolder) -> list[Media]:
    """The recordings of a run, in the order of their steps."""
    keys = [key for key, kind in folder.media_keys().items() if kind == STEP_KIND]
    found = [one for key in keys for one in folder.media(key) if one.kind == STEP_KIND]
    return sorted(found, key=lambda one: (one.step, one.time))


class OpenSteps:
    """Opens recordings and caches the most recently used. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, str, int, float], OpenStep] = OrderedDict()

    def get(self, folder: RunFolder, key: str | None, step: int | None) -> OpenStep:
        """The recording with that key and step; the newest of the run if none is given."""
        media = _chosen(folder, key, step)
        known_as = (folder.id, media.key, media.step, media.time)
        with self._lock:
            known = self._open.get(known_as)
            if known is not None:
                self._open.move_to_end(known_as)
                return known
        if media.size > MAX_BYTES:
            raise BadData(f"the recording {media.key!r} has {media.size:,} bytes; the page shows up to {MAX_BYTES:,}")
        record = _checked(read_logged(folder.media_bytes(media), media.key), media.key)
        opened = OpenStep(record, media)
        with self._lock:
            self._open[known_as] = opened
            while len(self._open) > 1 and (
                len(self._open) > _MOST_STEPS or sum(len(one.record.ops) for one in self._open.values()) > _MOST_OPS
            ):
                self._open.popitem(last=False)
        return opened


def _chosen(folder: RunFolder, key: str | None, step: int | None) -> Media:
    all_there = recordings_of(folder)
    found = [one for one in all_there if (key is None or one.key == key) and (step is None or one.step == step)]
    if not found:
        asked = "".join(words for words in (f" {key!r}" if key else "", f" of step {step}" if step is not None else ""))
        known = ", ".join(f"step {one.step}" for one in all_there[-10:])
        has = f"it has {known}" if known else "log one with run.log({'recording': step})"
        raise NotFound(f"the run has no recording{asked}; {has}")
    return found[-1]


def _checked(record: StepRecord, key: str) -> StepRecord:
    """A record whose ops are numbered by index, as all code that walks it expects."""
    if any(op.index != place for place, op in enumerate(record.ops)):
        raise BadData(f"the recording {key!r} is damaged: its ops are not in order; record the step again")
    return record
