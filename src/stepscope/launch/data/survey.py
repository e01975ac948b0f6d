"""A survey of a loader, a dataset or an iterable: what it delivers, before and after collation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.launch.data.field_stats import Field, field_of
from stepscope.launch.data.labels import label_field, whole_histogram
from stepscope.launch.data.leaves import leaves
from stepscope.launch.data.notes import Twins, notes_on, twins_in
from stepscope.launch.data.pictures import is_picture, sheet_of
from stepscope.launch.data.source import Drawn, draw

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from stepscope.track.media.image import Image


@dataclass
class Survey:
    """What was found. Prints itself; `to_dict()` is for programs, `save_picture(path)` for eyes."""

    name: str = "data"
    key: str = "data"
    """The name in short, for files and keys."""
    role: str = ""
    """train, val or test, where that is known."""
    kind: str = ""
    dataset: str = ""
    length: int | None = None
    batch_size: int | None = None
    batch_count: int | None = None
    last_batch: int | None = None
    sampler: str = ""
    workers: int = 0
    default_collate: bool = False
    samples: list[Field] = field(default_factory=list)
    batches: list[Field] = field(default_factory=list)
    looked_at: int = 0
    seconds: float = 0.0
    label: str | None = None
    histogram: dict[str, int] = field(default_factory=dict)
    histogram_of: str = ""
    """Whose labels these are: "all 1,437 samples" or "the 256 looked at"."""
    single_class_batches: bool = False
    twins: Twins | None = None
    error: str = ""
    notes: list[str] = field(default_factory=list)
    sheet: Image | None = None
    """The images among the samples."""
    picture_at: str = ""
    """Where the sheet was written."""

    @property
    def unit(self) -> str:
        return "samples" if self.samples else "batches"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the picture, for JSON."""
        plain = {name: value for name, value in vars(self).items() if name not in ("sheet", "samples", "batches")}
        plain["samples"] = [one.plain() for one in self.samples]
        plain["batches"] = [one.plain() for one in self.batches]
        plain["twins"] = None if self.twins is None else {"extra": self.twins.extra, "contrary": self.twins.contrary}
        return plain

    @property
    def picture(self) -> bytes | None:
        """The sheet of images as a PNG; None where there are no images."""
        encoded = [] if self.sheet is None else self.sheet.encode("data", 0, 0.0)
        return encoded[0][1] if encoded else None

    def save_picture(self, path: str | Path) -> Path | None:
        """Write the sheet of images; None where there are none."""
        picture = self.picture
        if picture is None:
            return None
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(picture)
        here = Path.cwd()
        self.picture_at = str(target.relative_to(here) if target.is_relative_to(here) else target)
        return target

    def __str__(self) -> str:
        from stepscope.launch.data.show import as_text

        return as_text(self)

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from stepscope.launch.data.show import as_rich

        yield from as_rich(self)


def survey_of(source: Any, *, name: str = "data", role: str = "", samples: int = 256, seconds: float = 10.0) -> Survey:
    """Look at this many samples, for this many seconds at most."""
    drawn = draw(source, samples=samples, seconds=seconds)
    survey = Survey(name=name, role=role, looked_at=len(drawn.samples), seconds=drawn.seconds, error=drawn.error)
    _describe_source(survey, source)
    parts = [list(leaves(sample)) for sample in drawn.samples]
    survey.samples = _fields(parts)
    survey.batches = _fields([list(leaves(batch)) for batch in drawn.batches[:1]])
    _describe_labels(survey, source, parts, drawn)
    survey.twins = twins_in(parts, survey.label)
    survey.notes = notes_on(survey)
    survey.sheet = _sheet(survey.samples, parts) if parts else _sheet_of_batch(drawn)
    return survey


def survey_of_batch(name: str, batch: Any) -> Survey:
    """Of a batch alone, where the script makes its batches itself."""
    survey = Survey(name=name, key="input", kind="made by the script, without a DataLoader")
    survey.batches = _fields([list(leaves(batch))])
    drawn = Drawn()
    drawn.batches = [batch]
    survey.notes = notes_on(survey)
    survey.sheet = _sheet_of_batch(drawn)
    return survey


def _fields(rows: list[list[tuple[str, Any]]]) -> list[Field]:
    by_path: dict[str, list[Any]] = {}
    for row in rows:
        for path, value in row:
            by_path.setdefault(path, []).append(value)
    return [field_of(path, values) for path, values in by_path.items()]


def _describe_source(survey: Survey, source: Any) -> None:
    dataset = getattr(source, "dataset", None) if hasattr(source, "collate_fn") else None  # a Subset has one too
    survey.kind = type(source).__name__
    survey.dataset = "" if dataset is None else type(dataset).__name__
    survey.length = _length(source if dataset is None else dataset)
    if dataset is None:
        return
    survey.batch_size = getattr(source, "batch_size", None)
    survey.sampler = type(getattr(source, "sampler", None)).__name__
    survey.workers = getattr(source, "num_workers", 0)
    survey.default_collate = getattr(source.collate_fn, "__name__", "") == "default_collate"
    survey.batch_count = _length(getattr(source, "batch_sampler", None))
    drawn, size = _length(getattr(source, "sampler", None)), survey.batch_size
    if drawn and size and survey.batch_count:
        survey.last_batch = size if getattr(source, "drop_last", False) or drawn % size == 0 else drawn % size


def _describe_labels(survey: Survey, source: Any, parts: list[list[tuple[str, Any]]], drawn: Drawn) -> None:
    label = label_field(survey.samples)
    if label is None:
        return
    survey.label = label.path
    whole = whole_histogram(source.dataset if hasattr(source, "collate_fn") else source)
    survey.histogram = whole or label.values
    survey.histogram_of = f"{sum(whole.values()):,} samples" if whole else f"{label.count:,} samples looked at"
    values = [str(value) for row in parts for path, value in row if path == label.path]
    start, single = 0, []
    for size in drawn.sizes:
        single.append(len(set(values[start : start + size])) == 1)
        start += size
    sorted_up = len(single) > 1 and min(drawn.sizes) > 3 and sum(single) >= 0.7 * len(single)
    survey.single_class_batches = sorted_up and survey.role not in ("val", "test")


def _sheet(fields: list[Field], rows: list[list[tuple[str, Any]]]) -> Image | None:
    image = next((one for one in fields if is_picture(one)), None)
    if image is None:
        return None
    return sheet_of([value for row in rows for path, value in row if path == image.path])


def _sheet_of_batch(drawn: Drawn) -> Image | None:
    for _, value in leaves(drawn.batches[0]) if drawn.batches else ():
        if hasattr(value, "detach") and value.dim() in (3, 4) and len(value):
            one = field_of("", list(value[:64]))
            if is_picture(one) and (value.dim() == 4 or one.low == 0):
                return sheet_of(list(value[:64]))
    return None


def _length(value: Any) -> int | None:
    try:
        return len(value)
    except (TypeError, NotImplementedError, ValueError):
        return None
