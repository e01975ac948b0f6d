from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from stepscope.common.code_owner import is_own_file
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.input_profiles import InputProfile, InputProfiles, ModelInputProfiles
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_ROWS, _CALLS = 16, 3
_FAR = 5.0
_SHRUNK = 20.0
_MOST_CHANNELS = 6
_ALIKE, _UNLIKE, _EFFECT = 4.0, 12.0, 0.3
_COMMON, _RARE, _SHORTEST = 0.5, 0.02, 3
_EXACT, _ABOUT = 2e-4, 0.25
_SEVERAL, _ONE_EXACT = 3, 1e-5
_OVERLAP = 0.1
_ARITHMETIC = frozenset((
    "div", "div_", "true_divide", "divide", "mul", "mul_", "multiply", "sub", "sub_", "add", "add_", "rsub", "flip",
    "permute", "transpose", "index", "index_select", "__getitem__", "getitem", "stack", "cat", "where", "normalize",
    "log", "log1p", "sqrt", "clamp",
))  # fmt: skip


@rule("data.eval-inputs-differ", severity="warning", needs="steps, end", follows=("data.nan-input",))
def eval_inputs_differ(run: Evidence) -> Iterator[Proof]:
    """The model is evaluated on inputs that were prepared in another way than those it was trained on.

    Why it matters: the model has never seen such values, so its answers and every metric computed from them mean
    nothing, however well it has learned.

    What to do: prepare both in the same code: the same scaling, the same statistics, the same order of channels and
    columns, the same vocabulary.

    How it is found: the values of each input are measured per channel or column, in training and at each place of
    evaluation. Reported are values far outside the range of the training, a range that is a small part of it, channels
    or columns that match those of the training only in another order, rows or whole test sets that are standardized
    with their own statistics, and ids that are mostly one rare id, or unknown to the training.

    Bad:
        train = (x_train - mean) / std
        model(x_test)
    Good:
        model((x_test - mean) / std)
    """
    for known in run[InputProfiles].all:
        if known.trained.calls < _CALLS or known.trained.rows < _ROWS:
            continue
        for other in known.evaluated:
            if other.rows < _ROWS or not other.mean or len(other.mean) != len(known.trained.mean):
                continue
            said = _difference(known.trained, other)
            if said is not None:
                yield _proof(known, other, *said)
                break


def _difference(trained: InputProfile, other: InputProfile) -> tuple[str, str, str] | None:
    """(what is wrong, label, fix)"""
    if trained.ids and other.ids:
        return _other_ids(trained, other)
    return _far_away(trained, other) or _shrunk(trained, other) or _reordered(trained, other) or _own(trained, other)


def _far_away(trained: InputProfile, other: InputProfile) -> tuple[str, str, str] | None:
    far = []
    for i, (low, high) in enumerate(zip(trained.low, trained.high, strict=True)):
        width = high - low
        off = max(low - other.mean[i], other.mean[i] - high, 0.0)
        if width > 0 and max(off, other.deviation[i]) > _FAR * width:
            far.append(i)
    if not far:
        return None
    worst = max(far, key=lambda i: max(abs(other.low[i]), abs(other.high[i])))
    return (
        f"the model is evaluated on values from {other.low[worst]:.4g} to {other.high[worst]:.4g}, but was trained on "
        f"{trained.low[worst]:.4g} to {trained.high[worst]:.4g}{_which(worst, far, len(trained.low))}",
        f"never seen in training: {other.low[worst]:.4g} to {other.high[worst]:.4g}",
        "scale and order the inputs of the evaluation as those of the training",
    )


def _which(worst: int, far: list[int], width: int) -> str:
    return f" (feature {worst})" if len(far) < width else ""


def _shrunk(trained: InputProfile, other: InputProfile) -> tuple[str, str, str] | None:
    low, high = min(other.low), max(other.high)
    for i, deviation in enumerate(trained.deviation):
        size = (deviation**2 + trained.mean[i] ** 2) ** 0.5
        if not 0 < other.deviation[i] < deviation / _SHRUNK or max(-low, high) > size / 10 or not other.between[i]:
            return None
    return (
        f"the model is evaluated on values from {low:.4g} to {high:.4g}, a small part of the "
        f"{min(trained.low):.4g} to {max(trained.high):.4g} that it was trained on",
        "scaled down only here",
        "scale the inputs of the evaluation as those of the training",
    )


def _reordered(trained: InputProfile, other: InputProfile) -> tuple[str, str, str] | None:
    """The means of the channels match only in another order."""
    width = len(trained.mean)
    if not 2 <= width <= _MOST_CHANNELS or min(trained.rows, other.rows) < 2 * _ROWS:
        return None

    def distance(order: tuple[int, ...]) -> float:
        worst = 0.0
        for j, i in enumerate(order):
            error = (trained.between[i] ** 2 / trained.rows + other.between[j] ** 2 / other.rows) ** 0.5
            worst = max(worst, abs(trained.mean[i] - other.mean[j]) / error if error > 0 else 1e9)
        return worst

    plain = tuple(range(width))
    if distance(plain) < _UNLIKE:
        return None
    best = min(permutations(plain), key=distance)
    moved = max(abs(trained.mean[i] - other.mean[i]) / (trained.deviation[i] or 1e-9) for i in plain)
    if best == plain or distance(best) > _ALIKE or moved < _EFFECT:
        return None
    return (
        "the channels of the evaluation's inputs are in another order than in training: "
        f"their means match as {list(best)}",
        f"means {_numbers(other.mean)}, in training {_numbers(trained.mean)}",
        "load both with the same order of channels (columns)",
    )


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _own(trained: InputProfile, other: InputProfile) -> tuple[str, str, str] | None:
    if other.each_standardized and not trained.each_standardized:
        return (
            "each sample of the evaluation is standardized with its own mean and deviation, those of the training "
            "are not",
            "every row has mean 0 and deviation 1",
            "subtract the mean and divide by the deviation of the training data",
        )
    if other.seen > _OVERLAP * other.rows or not other.whole:
        return None
    if not _is_standard(other) or not _is_standard(trained, _ABOUT):
        return None
    return (
        "the data of the evaluation is standardized with its own mean and deviation, not with those of the training",
        f"the mean of its {other.rows} rows is 0 and their deviation 1, exactly",
        "fit the scaling on the training data, and apply that to both",
    )


def _is_standard(profile: InputProfile, mean: float = _EXACT) -> bool:
    """Whether its mean is 0 and its deviation 1 in every feature that varies."""
    rows = max(profile.rows, 2)
    varying = [(m, d) for m, d in zip(profile.mean, profile.deviation, strict=True) if d > 0]
    slack = 1e-3
    if mean == _EXACT and len(varying) < _SEVERAL:
        mean, slack = _ONE_EXACT, _ONE_EXACT  # a single channel may come near to 0 and 1 by chance
    least = (1 - 1 / rows) ** 0.5 - slack
    return bool(varying) and all(abs(m) < mean and least - mean < d < 1 + slack + mean for m, d in varying)


def _other_ids(trained: InputProfile, other: InputProfile) -> tuple[str, str, str] | None:
    here, there = sum(other.ids.values()), sum(trained.ids.values())
    if here < _ROWS or (there < 2 * here and there < 2000):
        return None
    top, times = max(other.ids.items(), key=lambda item: item[1])
    usual = trained.ids.get(top, 0) / there
    if times / here > _COMMON and usual < _RARE and (len(other.ids) > 1 or _is_text(other)):
        return (
            f"{times / here:.0%} of the ids in the evaluation are {top}, which makes up {usual:.1%} of those in "
            "training",
            f"{times:,} of {here:,} are {top}",
            "encode the text of the evaluation as that of the training (lower case, tokens, vocabulary)",
        )
    return None


def _is_text(profile: InputProfile) -> bool:
    shape = () if profile.origin is None else profile.origin.shape
    return len(shape) == 2 and shape[1] >= _SHORTEST


def _proof(known: ModelInputProfiles, other: InputProfile, message: str, label: str, fix: str) -> Proof:
    only_here, only_there = _parting(known.trained.origin, other.origin)
    return Proof(
        where=only_here or other.place,
        message=message,
        label=label,
        evidence={
            "model": known.model, "rows": other.rows, "training_mean": known.trained.mean[:8], "mean": other.mean[:8],
            "training_deviation": known.trained.deviation[:8], "deviation": other.deviation[:8],
        },
        fix=fix,
        related=[
            (place, words)
            for place, words in (
                (other.place if only_here else None, "evaluated here"),
                (only_there, "only the training data goes through this"),
                (known.trained.place, "trained here"),
            )
            if place is not None
        ],
    )  # fmt: skip


def _parting(trained: Origin | None, other: Origin | None) -> tuple[Place | None, Place | None]:
    """The last line that changes only the evaluation's data, and the last that changes only the training's."""
    ours, theirs = _changes(other), _changes(trained)
    here, there = {_line(place) for place in ours}, {_line(place) for place in theirs}
    return (
        next((place for place in ours if _line(place) not in there), None),
        next((place for place in theirs if _line(place) not in here), None),
    )


def _line(place: Place) -> tuple[str, int]:
    return place.site.file, place.site.line


def _changes(origin: Origin | None) -> list[Place]:
    past = () if origin is None else origin.ancestors(200)
    return [one.place for one in past if one.op in _ARITHMETIC and one.place and is_own_file(one.place.file)]
