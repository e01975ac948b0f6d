from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.data_sources import function_at, loader_call, names_in
from stepscope.diagnose.edits.loop import imports
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted
from stepscope.evidence.loaders import Loader

_SEEDS = ("seed", "manual_seed", "default_rng", "RandomState", "Random", "seed_everything")
_FRESH = ("initial_seed", "get_worker_info", "urandom", "time", "time_ns", "perf_counter", "SeedSequence", "epoch")


@rule("data.worker-seed", severity="warning")
def worker_seed(run: Evidence) -> Iterator[Proof]:
    """Every worker (or every epoch) starts from the same random numbers.

    Why it matters: with the same seed in each worker the workers repeat each other's augmentations; with a seed that
    depends on the worker's number only, each epoch repeats the one before. There is far less variety than it seems.

    What to do: derive the seed from `torch.initial_seed()`, which differs by worker and by epoch, or leave
    `worker_init_fn` out: torch seeds itself, numpy and `random` in each worker.

    How it is found: the `worker_init_fn` of a loader with workers is read; what it seeds with does not change between
    workers or between epochs, and the dataset draws random numbers.

    Bad:
        def init(worker_id): np.random.seed(42)
    Good:
        def init(worker_id): np.random.seed(torch.initial_seed() % 2**32)
    """
    for fact in run.loaders.all:
        if fact.workers < 1 or not fact.batches:
            continue
        found = _init_function(run, fact)
        if found is None or not _dataset_draws(run, fact):
            continue
        file, function = found
        seed = _seeding(function)
        if seed is None:
            continue
        argument = function.args.args[0].arg if function.args.args else ""
        how = _what_repeats(file, function, seed, argument)
        if how is None or (how == "epochs" and (fact.epochs < 2 or fact.persistent)):
            continue
        if how == "workers" and fact.workers < 2 and fact.epochs < 2:
            continue
        yield Proof(
            where=file.site(seed),
            message="every worker starts from the same seed, so they repeat each other's random numbers"
            if how == "workers"
            else "the seed depends on the worker only, so every epoch repeats the same random numbers",
            label=f"the same in all {fact.workers} workers" if how == "workers" else "the same in every epoch",
            evidence={"workers": fact.workers, "epochs": fact.epochs, "repeats": how},
            edit=edits.replace((file, seed.args[0]), "torch.initial_seed() % 2**32")
            if seed.args and imports(file, "torch")
            else None,
            fix="seed from torch.initial_seed() % 2**32, or remove worker_init_fn",
            related=[(fact.made, "the loader")],
        )


def _init_function(run: Evidence, fact: Loader) -> tuple[SourceFile, ast.FunctionDef | ast.Lambda] | None:
    known = function_at(run, fact.worker_init)
    if known is not None:
        return known
    made = loader_call(run, fact)
    value = next((word.value for word in made[1].keywords if word.arg == "worker_init_fn"), None) if made else None
    if made is None or value is None:
        return None
    file = made[0]
    if isinstance(value, ast.Lambda):
        return file, value
    name = dotted(value).rpartition(".")[2]
    for one in run.source.files():
        for node in one.walk(ast.FunctionDef):
            if node.name == name:
                return one, node
        for node in one.walk(ast.Assign):
            if isinstance(node.value, ast.Lambda) and any(dotted(target) == name for target in node.targets):
                return one, node.value
    return None


def _seeding(function: ast.FunctionDef | ast.Lambda) -> ast.Call | None:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and called_name(node) in _SEEDS]
    return calls[0] if calls and (calls[0].args or calls[0].keywords) else None


def _what_repeats(file: SourceFile, function: ast.AST, seed: ast.Call, argument: str) -> str | None:
    """workers · epochs · None (nothing, or we cannot tell)."""
    local = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    queue: list[ast.AST] = [*seed.args, *(word.value for word in seed.keywords)]
    names: set[str] = set()
    for node in queue:
        for part in ast.walk(node):
            word = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
            if word in _FRESH or "epoch" in word or (isinstance(part, ast.Call) and called_name(part) in _FRESH):
                return None
            if isinstance(part, ast.Call) and called_name(part) not in ("int", "hash", "len", "str", "abs"):
                return None
        for name in names_in(node):
            if name not in names:
                names.add(name)
                if name in local:
                    queue.append(local[name])
    if argument in names:
        return "epochs"
    return "workers"


def _dataset_draws(run: Evidence, fact: Loader) -> bool:
    """Whether the dataset's own code draws random numbers (a dataset we cannot read may)."""
    methods = {} if fact.data is None else fact.data.methods
    found = function_at(run, methods.get("__getitem__")) or function_at(run, methods.get("__iter__"))
    if found is None:
        return True
    owner = found[0].enclosing(found[1], ast.ClassDef) or found[1]
    text = ast.unparse(found[0].tree)
    return "rand" in ast.unparse(owner) or ("transform" in ast.unparse(owner) and "rand" in text)
