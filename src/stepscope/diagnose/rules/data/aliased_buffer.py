from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of, functions_named, returned_by
from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted
from stepscope.evidence.batches import Diet, Fed
from stepscope.records.step import Site

_TIMES = 5
_FEWEST_ROWS = 8
_GATHERED = frozenset(
    ("stack", "cat", "concat", "tensor", "as_tensor", "from_numpy", "asarray", "FloatTensor", "Tensor")
)
_MEANT = frozenset((
    "expand", "repeat", "repeat_interleave", "tile", "broadcast_to", "expand_as", "broadcast_tensors", "new_tensor",
))  # fmt: skip


@rule("data.aliased-buffer", severity="error")
def aliased_buffer(run: Evidence) -> Iterator[Proof]:
    """One array is stored repeatedly, so all stored samples are the same.

    Why it matters: appending an array stores a reference. When the array is then changed in place, every entry changes
    with it: a batch drawn from memory is the latest state, many times over, with other samples' rewards and labels.

    What to do: store a copy: `memory.append(state.copy())`, `states.append(h.clone())`.

    How it is found: in batch after batch (almost) all rows are equal, and they differ from one batch to the next. Rows
    that were repeated on purpose (`expand`, `repeat`) are left alone.

    Bad:
        memory.append((state, action, reward))     # and then: state[:] = next_state
    Good:
        memory.append((state.copy(), action, reward))
    """
    by_model: dict[Diet, list[Fed]] = {}
    for fed in run.batches.first:
        if fed.rows >= _FEWEST_ROWS:
            by_model.setdefault(fed.model, []).append(fed)
    for diet, feds in by_model.items():
        alike = [fed for fed in feds if fed.alike >= 0.95 * fed.rows]
        if len(alike) < _TIMES or len(alike) < 0.8 * len(feds) or any(_on_purpose(fed) for fed in alike[:_TIMES]):
            continue
        changes = len({fed.mark for fed in alike}) >= 3
        stored = _storing_line(run, sure=not changes)
        if stored is None and (not changes or not _was_stored(alike[0])):
            continue  # one row throughout (a bandit's state), or rows that were computed alike
        yield Proof(
            where=stored or birth(run, alike[0].origin) or alike[0].visit.place,
            message=f"the {alike[0].rows} rows of a batch for {diet.type} are all the same row",
            label="stored without a copy; later changes affect every entry",
            evidence={"batches": len(alike), "rows": alike[0].rows, "distinct_rows": alike[0].distinct},
            fix="store a copy: .copy() of an array, .clone() of a tensor",
            related=[(alike[0].visit.place, "they are passed to the model here")],
        )


def _was_stored(fed: Fed) -> bool:
    """Whether the batch was put together from things kept before, and not computed as one tensor."""
    origin = fed.origin
    return origin is not None and any(past.op in _GATHERED for past in origin.ancestors(60))


def _on_purpose(fed: Fed) -> bool:
    return fed.origin is None or any(past.op in _MEANT for past in fed.origin.ancestors(60))


def _storing_line(run: Evidence, *, sure: bool) -> Site | None:
    """Where something that is written to in place is appended to a memory. `sure`: `x += 1` may be a plain number."""
    for file in run.source.files():
        written = set(_written_in_place(file, sure=sure)) - {""}
        for call in file.walk(ast.Call):
            if called_name(call) in ("append", "push", "add", "store", "remember", "appendleft", "extend"):
                given = {dotted(part) for arg in call.args for part in _parts(arg)} - {""}
                if written & given or any(_is_lent(run, file, name, call) for name in given):
                    return file.site(call)
    return None


def _is_lent(run: Evidence, file: SourceFile, name: str, at: ast.AST) -> bool:
    """Whether a name holds what a method returned that goes on writing to it: `return self.state`."""
    binding = binding_of(file, name, at)
    called = [] if binding is None or binding.value is None else list(ast.walk(binding.value))
    for call in called:
        for own, function in functions_named(run, called_name(call)) if isinstance(call, ast.Call) else ():
            written = {one for one in _written_in_place(own) if one.startswith("self.")}
            if written & {dotted(part) for value in returned_by(function) for part in _parts(value)}:
                return True
    return False


def _parts(node: ast.expr) -> list[ast.expr]:
    """What is handed over as it is: `(a, b)`, `T(a, b)` and `[a, b]` hand over a and b."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return [part for one in node.elts for part in _parts(one)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[:1].isupper():
        return [part for one in node.args for part in _parts(one)]
    if isinstance(node, ast.Dict):
        return [part for one in node.values for part in _parts(one)]
    return [node]


def _written_in_place(file: SourceFile, *, sure: bool = False) -> Iterator[str]:
    for node in file.walk(ast.Assign, ast.AugAssign, ast.Call):
        if isinstance(node, ast.Assign):
            yield from (dotted(target.value) for target in node.targets if isinstance(target, ast.Subscript))
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Subscript) or not sure:
                yield dotted(node.target.value if isinstance(node.target, ast.Subscript) else node.target)
        elif called_name(node).endswith("_") and isinstance(node.func, ast.Attribute):
            yield dotted(node.func.value)
        yield from (dotted(word.value) for word in getattr(node, "keywords", ()) if word.arg == "out")
