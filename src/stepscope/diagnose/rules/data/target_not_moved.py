from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name, dotted
from stepscope.evidence.loaders import Loader
from stepscope.evidence.moved_points import MovedPoints, PointsMoved
from stepscope.evidence.moved_samples import MovedSamples, SamplesMoved
from stepscope.records.place import Place
from stepscope.records.step import Site

_FEWEST = 3
_CLASSES, _NARROWEST = 32, 4
_EXPLAINED = 0.3
_POSITIONS = re.compile(
    r"(^|_)(kpts?|key_?points?|landmarks?|points?|pts|coords?|coordinates|joints|corners|b?box(es)?|xy|cent(er|re)s?)(_|$)",
    re.I,
)
_MOVES = frozenset({"flip", "fliplr", "flipud", "hflip", "vflip", "rot90", "rotate", "transpose"})


@rule("data.target-not-moved", severity="warning", needs="end")
def target_not_moved(run: Evidence) -> Iterator[Proof]:
    """Images are flipped or rotated at random, but their masks or key points are not, or by another random draw.

    Why it matters: in half of the samples the mask then marks the wrong pixels (a key point the wrong side), and the
    model learns a mixture of the object and its mirror image.

    What to do: draw once, and do the same to the image and to its mask (boxes and key points as well).

    How it is found: when the script is over, a few samples of the training data are taken several times. In at least
    three of them the image was the mirror image of an earlier one, or rotated, while its mask was the same as before,
    though a flipped mask would have been another one; and never did both move together. If now and then they did, the
    losses say whether the second picture is a mask (few classes, a target for every pixel) or another view. Numbers
    beside an image are positions where images of the evaluation show it: how an image differs from its mirror image
    tells them; or where the dataset calls them so.

    Bad:
        if torch.rand(1) < 0.5:
            image = image.flip(-1)
    Good:
        if torch.rand(1) < 0.5:
            image, mask = image.flip(-1), mask.flip(-1)
    """
    for one in run[SamplesMoved].all:
        if one.left < _FEWEST:
            continue
        if one.together:
            if _has_masks(run):
                yield _apart(run, one)
            continue
        yield Proof(
            where=_line(run, one.loader),
            message=f"the image is {one.move} at random, and its mask stays as it is",
            label="only the image moves",
            evidence={"left": one.left, "move": one.move},
            fix="do the same to the mask: draw once, and apply the move to both",
        )
    for points in run[PointsMoved].all:
        if points.left >= _FEWEST and not points.together and _are_positions(run, points):
            yield _points_left(run, points)


def _are_positions(run: Evidence, points: MovedPoints) -> bool:
    if points.explained >= _EXPLAINED:
        return True
    scope = _get_item(run, points.loader)
    returned = [part for node in ast.walk(scope) if isinstance(node, ast.Return) and node.value for part in
                ast.walk(node.value)] if scope is not None else []  # fmt: skip
    names = [
        one.id if isinstance(one, ast.Name) else one.attr
        for one in returned
        if isinstance(one, (ast.Name, ast.Attribute))
    ]
    return points.numbers >= 2 and any(_POSITIONS.search(name) for name in names)


def _points_left(run: Evidence, points: MovedPoints) -> Proof:
    axis, other = ("x", "width") if "left" in points.move else ("y", "height")
    return Proof(
        where=_line(run, points.loader),
        message=f"the image is {points.move} at random, but the positions that belong to it stay as they are: in the "
        "flipped images they point at the wrong side",
        label="only the image is flipped",
        evidence={"flipped_alone": points.left, "numbers": points.numbers, "explained": round(points.explained, 2)},
        fix=f"when the image is flipped, change the {axis} coordinates too: {axis} = {other} - {axis} (1 - {axis} if "
        "they run from 0 to 1)",
    )


def _apart(run: Evidence, one: MovedSamples) -> Proof:
    return Proof(
        where=_called_twice(run, one.loader) or _line(run, one.loader),
        message=f"the image is {one.move} at random, and its mask by a draw of its own",
        label="two draws: often only one of the two moves",
        evidence={"left": one.left, "together": one.together, "move": one.move},
        fix="draw once, and apply the same move to the image and to its mask",
    )


def _has_masks(run: Evidence) -> bool:
    """Whether a loss compares every pixel with one of a few classes."""
    for call in run.losses.calls:
        shape = call.shapes.get("target", ())
        is_classes = call.look is not None and call.look.integral and 2 <= len(call.counts or ()) <= _CLASSES
        if call.trains and is_classes and len(shape) >= 3 and min(shape[-2:]) >= _NARROWEST:
            return True
    return False


def _called_twice(run: Evidence, loader: Loader) -> Site | None:
    """The line where the dataset calls a function of the user's that draws, once for each of the two."""
    place = None if loader.data is None else loader.data.methods.get("__getitem__")
    file = None if place is None else run.source.file(place.file)
    inside = _get_item(run, loader)
    if file is None or inside is None:
        return None
    own = {one.name for one in file.walk(ast.FunctionDef)}
    first: dict[str, ast.Call] = {}
    for node in ast.walk(inside):
        if isinstance(node, ast.Call) and len(node.args) == 1 and (name := dotted(node.func)):
            if name not in own and not name.startswith("self."):
                continue
            before = first.setdefault(name, node)
            if before is not node and ast.dump(before.args[0]) != ast.dump(node.args[0]):
                return file.site(min(before, node, key=lambda call: call.lineno))
    return None


def _get_item(run: Evidence, loader: Loader) -> ast.FunctionDef | None:
    """The code of the dataset's `__getitem__`, where that is the user's own."""
    place = None if loader.data is None else loader.data.methods.get("__getitem__")
    file = None if place is None else run.source.file(place.file)
    if place is None or file is None:
        return None
    inside = [one for one in file.walk(ast.FunctionDef) if one.name == "__getitem__" and one.lineno <= place.line + 1]
    return inside[-1] if inside else None


def _line(run: Evidence, loader: Loader) -> Place | Site | None:
    """The line of the dataset that moves the picture."""
    place = None if loader.data is None else loader.data.methods.get("__getitem__")
    file = None if place is None else run.source.file(place.file)
    if place is None or file is None:
        return place or loader.made
    inside = _get_item(run, loader)
    for scope in (file.tree,) if inside is None else (inside, file.tree):
        moves = [node for node in ast.walk(scope) if called_name(node) in _MOVES or _is_reversed(node)]
        if moves:
            return file.site(moves[0])
    return place


def _is_reversed(node: ast.AST) -> bool:
    """`x[:, ::-1]`"""
    if not isinstance(node, ast.Subscript):
        return False
    steps = [part.step for part in ast.walk(node.slice) if isinstance(part, ast.Slice)]
    return any(isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub) for step in steps)
