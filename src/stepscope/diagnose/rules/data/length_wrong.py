from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.classes import own_class, values_returned
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import Held, HeldItems, HeldTensor


@rule("data.length-wrong", severity="error", needs="crash")
def length_wrong(run: Evidence) -> Iterator[Proof]:
    """A dataset reports more samples than it has.

    Why it matters: the loader asks for every index below `len(dataset)`. With a shuffled loader it fails at some random
    batch.

    What to do: have `__len__` return the length of what `__getitem__` reads.

    How it is found: the index and the container on the failing line of `__getitem__`: the index lies below what
    `__len__` promises and past the end of the container.

    Bad:
        def __len__(self):
            return len(self.rows) + 1
    Good:
        def __len__(self):
            return len(self.rows)
    """
    crash = run.crash
    frame = None if crash is None else crash.last
    if crash is None or frame is None or not crash.is_a("IndexError") or frame.function != "__getitem__":
        return
    node, owner = frame.running, frame.locals.get("self")
    if not isinstance(node, ast.Subscript) or not isinstance(owner, Held) or not owner.is_a("Dataset"):
        return
    asked = frame.locals.get(frame.arguments[1]) if len(frame.arguments) > 1 else None
    size = _size(frame.value_of(node.value))
    index = _index(frame, node.slice)
    if type(asked) is not int or index is None or size is None or index < size:
        return
    found = own_class(crash, owner.type)
    length = None if found is None else found.methods.get("__len__")
    if found is None or length is None:
        return
    returned = [one for one in values_returned(found.file, length) if one is not None]
    held = said(node.value)
    ahead = index - asked  # `rows[i + width]` reads further than its own number
    if ahead < 0 or (ahead == 0 and asked < size):
        return
    yield Proof(
        where=node_site(found.file, returned[-1] if returned else length),
        message=f"`__len__` promises more samples than `{held}` has: index {index} was requested, but there are {size}",
        label=f"`{held}` has {size}",
        evidence={"index": index, "samples": size, "container": held},
        fix=f"return len({held})" + (f" - {_ahead(node.slice, frame.arguments[1]) or ahead}" if ahead else ""),
        related=[(frame.site, "it fails here")],
    )


def _index(frame: Frame, node: ast.AST) -> int | None:
    """The number that an index of plain sums comes to."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = _index(frame, node.left), _index(frame, node.right)
        if left is None or right is None:
            return None
        return left + right if isinstance(node.op, ast.Add) else left - right
    value = frame.value_of(node)
    return value if type(value) is int else None


def _ahead(node: ast.AST, name: str) -> str:
    """`width` of `i + width`."""
    plain = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and said(node.left) == name
    return said(node.right) if plain and isinstance(node, ast.BinOp) else ""


def _size(value: object) -> int | None:
    if isinstance(value, HeldTensor):
        return value.shape[0] if value.shape else None
    if isinstance(value, HeldItems):
        return value.length if value.keys is None else None
    return value.shape[0] if isinstance(value, Held) and value.shape else None
