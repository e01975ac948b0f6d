"""What looks wrong with the data, in words: NaNs, wasteful types, odd ranges, duplicates, skewed labels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from stepscope.common.units import bytes_text
from stepscope.launch.data.field_stats import Field, as_array

if TYPE_CHECKING:
    from stepscope.launch.data.survey import Survey

_LARGE_BYTES = 16 << 20
_MANY_VALUES = 16
_SKEW = 20


class Twins:
    """Samples that came more than once."""

    def __init__(self, extra: int, contrary: int, digests: frozenset[bytes] = frozenset()) -> None:
        self.extra = extra
        """So many samples are duplicates."""
        self.contrary = contrary
        """So many of them have another label than the earlier one."""
        self.digests = digests
        """Of all that were looked at: to be compared with those of another loader."""


def twins_in(samples: Sequence[list[tuple[str, Any]]], label: str | None) -> Twins:
    """Compare the contents of samples, their labels apart."""
    seen: dict[bytes, Any] = {}
    extra = contrary = 0
    for parts in samples:
        arrays = [(path, as_array(value)) for path, value in parts if path != label]
        digest = hashlib.blake2b(digest_size=16)
        held = [(path, array) for path, array in arrays if array is not None and array.size > 1]
        for path, array in held:
            digest.update(f"{path}{array.shape}{array.dtype}".encode())
            digest.update(array.tobytes())
        if not held:
            continue
        mine = next((str(value) for path, value in parts if path == label), None)
        if digest.digest() in seen:
            extra += 1
            contrary += seen[digest.digest()] != mine
        seen.setdefault(digest.digest(), mine)
    return Twins(extra, contrary, frozenset(seen))


def shared_by(surveys: list[Survey]) -> None:
    """Say it of loaders for evaluation that give samples which the training gives too."""
    trained = [one for one in surveys if one.role == "train" and one.twins is not None]
    for one in surveys:
        if one.role in ("val", "test") and one.twins is not None:
            known = frozenset().union(*(other.twins.digests for other in trained if other.twins is not None))
            both = len(one.twins.digests & known)
            if both:
                one.notes.append(f"{both} of {one.looked_at} examined samples are also training samples")


def notes_on(survey: Survey) -> list[str]:
    """Everything worth a warning, the worst first."""
    found = [note for field in survey.samples or survey.batches for note in _on_field(field, survey)]
    return [*_on_loader(survey), *found, *_on_labels(survey)]


def _on_field(one: Field, survey: Survey) -> Iterator[str]:
    name = one.path or "it"
    if one.bad:
        yield f"{name} has NaN or Inf in {one.bad} of {one.count} {survey.unit}"
    if len(one.shapes) > 1 and survey.samples:
        shapes = ", ".join("x".join(map(str, shape)) or "scalar" for shape in one.shapes[:3])
        more = "; the default collate cannot stack them" if survey.default_collate else ""
        yield f"{name} has {len(one.shapes)} different shapes ({shapes}){more}"
    yield from _on_size(one, name)
    if one.low is not None and one.high is not None:
        yield from _on_range(one, name, one.low, one.high)


def _on_size(one: Field, name: str) -> Iterator[str]:
    """What of its memory is wasted."""
    numbers = _numbers(one)
    if numbers >= _MANY_VALUES and _holds_bytes(one) and one.dtype.startswith(_WIDE):
        takes = f"{bytes_text(one.bytes)} per sample; uint8 takes {bytes_text(numbers)}"
        scaled = "; networks expect scaled inputs" if one.dtype.startswith("float") else ""
        yield f"{name} is {one.dtype} but holds whole numbers {one.low:g}..{one.high:g}: {takes}{scaled}"
    elif one.dtype == "float64" and numbers > 1:
        yield f"{name} is float64: {bytes_text(one.bytes)} per sample, twice as much as float32"
    elif one.bytes > _LARGE_BYTES:
        yield f"{name} takes {bytes_text(one.bytes)} per sample"


def _holds_bytes(one: Field) -> bool:
    """Whether its values are those of an image's pixels: whole, from 0 to 255, and not just a few classes."""
    return one.whole and one.low is not None and one.high is not None and one.low >= 0 and 16 < one.high <= 255


def _on_range(one: Field, name: str, low: float, high: float) -> Iterator[str]:
    if _numbers(one) >= _MANY_VALUES and low == high:
        yield f"{name} is always {low:g}"
    elif not one.whole and max(high, -low) > 1000:
        yield f"{name} ranges from {low:.4g} to {high:.4g}; should it be scaled?"


_WIDE = ("float", "int64", "int32", "int16")


def _numbers(one: Field) -> int:
    if not one.shapes:
        return 0
    count = 1
    for length in one.shapes[0]:
        count *= length
    return count


def _on_loader(survey: Survey) -> Iterator[str]:
    if survey.error:
        yield f"it failed after {survey.looked_at} samples: {survey.error}"
    elif not survey.looked_at and not survey.batches:
        yield "it delivers nothing"
    elif survey.batch_count == 0:
        yield f"it has {survey.length} samples but no batch: drop_last drops the only one"
    if survey.twins is not None and survey.twins.extra:
        extra, contrary = survey.twins.extra, survey.twins.contrary
        said = f", {contrary} of them with a different label" if contrary else ""
        yield f"{extra} of {survey.looked_at} samples are duplicates{said}"


def _on_labels(survey: Survey) -> Iterator[str]:
    counts = survey.histogram
    if not counts or survey.label is None:
        return
    if len(counts) == 1 and survey.looked_at > 1:
        only = next(iter(counts))
        yield f"all {survey.histogram_of} have the label {only}; is the data sorted but not shuffled?"
    elif min(counts.values()) * _SKEW < max(counts.values()):
        rare = min(counts, key=lambda value: counts[value])
        yield f"label {rare} occurs {counts[rare]} times, the most frequent one {max(counts.values())} times"
    if survey.single_class_batches and len(counts) > 1:
        yield "most batches have a single label: the data is sorted and not shuffled"
