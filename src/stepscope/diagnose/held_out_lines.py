"""Where training data and the data kept for evaluation got into each other: the line that chose the rows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.array_provenance import binding_of, functions_named, story_at
from stepscope.diagnose.data_sources import dataset_line, host_call
from stepscope.diagnose.source import called_name
from stepscope.diagnose.target_lines import cut_at

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.batches import Diet, Evaluated
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.records.step import Site

_DRAWS = ("randperm", "multinomial", "randint", "bernoulli", "rand")
_FAR = 60
REPEATED = "repeats rows before they are split, so copies of one row land in both parts"


def training_line(run: Evidence, diet: Diet, evaluated: Evaluated) -> tuple[Any, str]:
    """(where the rows were chosen, what to say there).

    Where both parts were cut out of one tensor, with indices that the same line drew twice, that line is the cause.
    Otherwise, when all evaluated rows are trained on, training takes too much: its choice is the cause. When some are,
    two choices were made apart from each other: the later one is.
    """
    drawn = _drawn_twice(diet.origin, evaluated.origin)
    if drawn is not None:
        return drawn, "drawn again for each part, so the parts overlap"
    repeated = _repeated_before(run, evaluated)
    if repeated is not None:
        return repeated, REPEATED
    train = _choice(run, diet.loaders[0] if diet.loaders else None, diet.origin)
    test = _choice(run, evaluated.loader, evaluated.origin)
    whole = evaluated.seen >= 0.95 * evaluated.rows
    if whole:
        return train or _fed_at(diet, evaluated), "training takes the rows of the evaluation too"
    later = max((one for one in (train, test) if one is not None), key=lambda site: site.line, default=None)
    return later or _fed_at(diet, evaluated), ""


def _drawn_twice(train: Origin | None, test: Origin | None) -> Site | None:
    """The line that drew the indices of both parts, each time anew, where both were picked from the same tensor."""
    of_train = [] if train is None else _picks(train)
    for base, index in () if test is None else _picks(test):
        for other_base, other in of_train:
            one, two = index.comes_from(*_DRAWS), other.comes_from(*_DRAWS)
            same_line = one is not None and two is not None and one is not two and one.place == two.place
            if base is other_base and same_line and one is not None and one.place is not None:
                return one.place.site
    return None


def _repeated_before(run: Evidence, evaluated: Evaluated) -> Site | None:
    """Where rows were repeated, if one `train_test_split` gave both parts: it never gives a row to both.

    That is the call of an own function (or a sampler's `fit_resample`) that the array came out of, and went into.
    """
    for place in evaluated.places:
        file, node = run.source.file(place.file), run.source.expression(place)
        if file is None or node is None:
            continue
        for name in (one.id for one in ast.walk(node) if isinstance(one, ast.Name)):
            split = binding_of(file, name, node)
            if split is None or not isinstance(split.value, ast.Call) or called_name(split.value) != "train_test_split":
                continue
            whole = split.value.args[0] if split.value.args else None
            before = binding_of(file, whole.id, split.statement) if isinstance(whole, ast.Name) else None
            if before is not None and isinstance(whole, ast.Name) and _repeats(run, before.value, whole.id):
                return before.site
    return None


def _repeats(run: Evidence, value: ast.expr | None, name: str) -> bool:
    """`X, y = oversample(X, y)`"""
    if not isinstance(value, ast.Call):
        return False
    takes_itself = any(isinstance(one, ast.Name) and one.id == name for given in value.args for one in ast.walk(given))
    called = called_name(value)
    is_own = any(True for _ in functions_named(run, called))
    return takes_itself and (
        is_own or called in ("fit_resample", "resample", "repeat", "concatenate", "concat", "vstack")
    )


def _picks(origin: Origin) -> list[tuple[Origin, Origin]]:
    """(what, with which indices) for each pick on the way to this tensor."""
    found, seen = [], 0
    while origin.inputs and seen < _FAR:
        if origin.op == "getitem" and len(origin.inputs) > 1:
            found.append((origin.inputs[0], origin.inputs[1]))
        origin, seen = origin.inputs[0], seen + 1
    return found


def _fed_at(diet: Diet, evaluated: Evaluated) -> Any:
    return next(iter((*diet.places, *evaluated.places)), None)


def _choice(run: Evidence, loader: Loader | None, origin: Origin | None) -> Site | None:
    """The statement that chose which rows these are."""
    if loader is not None:
        return dataset_line(run, loader)
    taken = host_call(run, origin)
    if taken is not None and taken.place is not None:
        behind = story_at(run, taken.place)
        return behind[0] if behind else taken.place.site
    return cut_at(run, origin)
