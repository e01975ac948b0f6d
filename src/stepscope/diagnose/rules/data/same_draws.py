from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.evidence.origins import Origin
from stepscope.evidence.repeated_draws import RepeatedDraws
from stepscope.records.step import Site

_STEPS = 5
_SEEDS = frozenset({"default_rng", "RandomState", "manual_seed", "seed", "Random", "PRNGKey"})


@rule("data.same-draws", severity="warning", follows=("repro.seed-in-loop", "data.repeat-loader-iter"))
def same_draws(run: Evidence) -> Iterator[Proof]:
    """Training data that is drawn again at every step is the same every time, because its generator gets the same seed.

    Why it matters: the model sees a handful of samples (or tasks) however long it trains, and memorizes them.

    What to do: make the generator once, outside of the function that draws, or pass a seed that changes.

    How it is found: in at least five updates the model was given new tensors whose rows are the same as before, and the
    function that makes them starts a random number generator with a seed.

    Bad:
        def sample(n, seed=0):
            rng = np.random.default_rng(seed)
            return torch.from_numpy(rng.normal(size=(n, 4)))
    Good:
        rng = np.random.default_rng(0)
        def sample(n):
            return torch.from_numpy(rng.normal(size=(n, 4)))
    """
    for one in run[RepeatedDraws].all:
        if one.times < _STEPS:
            continue
        seeded = _seed(run, one.origin)
        if seeded is None:
            continue
        yield Proof(
            where=seeded,
            message=f"the data that {one.model} trains on is drawn again for each update and is the same every time: "
            "the generator starts from the same seed",
            label="the same seed at each call",
            evidence={"times": one.times, "rows": one.rows},
            fix="make the generator once, outside of this function, or let the seed change from call to call",
            related=[(one.place, "the model gets it here")],
        )
        return


def _seed(run: Evidence, origin: Origin) -> Site | None:
    """The line that seeds a generator in the function which makes this data."""
    made = birth(run, origin)
    file = None if made is None else run.source.file(made.file)
    node = None if file is None or made is None else file.at(made)
    function = None if file is None or node is None else file.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    if function is None or _trains(function):
        return None  # it seeds once, and then draws for all steps
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and called_name(call) in _SEEDS and (call.args or call.keywords):
            assert file is not None
            return file.site(call)
    return None


def _trains(function: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and called_name(one) == "backward" for one in ast.walk(function))
