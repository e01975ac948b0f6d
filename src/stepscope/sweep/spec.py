"""A sweep as its file describes it, in one frozen record; W&B's sweep files are understood as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from stepscope.errors import ConfigError
from stepscope.sweep.early_stop import EarlyStop, early_stop_from
from stepscope.sweep.fields import Fields
from stepscope.sweep.file import load
from stepscope.sweep.space import SearchSpace

METHODS = ("grid", "random", "tpe", "gp", "cmaes", "qmc", "nsgaii", "bayes")
BACKENDS = ("local", "slurm", "ray", "kubernetes")
STYLES = ("equals", "space", "hydra", "none")
BOOLEANS = ("value", "flag", "no-flag")
_GOALS: dict[str, Literal["min", "max"]] = {"min": "min", "minimize": "min", "max": "max", "maximize": "max"}


@dataclass(frozen=True)
class Metric:
    """What a run is judged by."""

    name: str
    goal: Literal["min", "max"] = "min"
    of: Literal["summary", "last", "best"] = "summary"
    """summary: the value of the run in its tables, the last value unless the script says otherwise."""
    target: float | None = None
    """The sweep ends when a run gets there."""

    def is_better(self, one: float, other: float) -> bool:
        return one < other if self.goal == "min" else one > other


@dataclass(frozen=True)
class Arguments:
    """How parameters become words of a command line."""

    style: str = "equals"
    """equals: --lr=0.1 · space: --lr 0.1 · hydra: lr=0.1 · none: only through `run.config`."""
    booleans: str = "value"
    """value: --bias=True · flag: --bias, or nothing · no-flag: --bias or --no-bias."""


@dataclass(frozen=True)
class Sweep:
    """Everything a sweep file says."""

    name: str
    space: SearchSpace
    method: str = "random"
    metric: Metric | None = None
    runs: int | None = None
    """None: all of a grid, else until somebody stops it."""
    script: str | None = None
    module: str | None = None
    command: tuple[str, ...] = ()
    watch: bool = True
    """Start the script with `stepscope run`."""
    run_options: tuple[str, ...] = ()
    arguments: Arguments = field(default_factory=Arguments)
    fixed: tuple[str, ...] = ()
    parallel: int = 1
    slots: tuple[Mapping[str, str], ...] = ()
    """Variables of each place a run can have: which GPU it gets."""
    environment: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    timeout_s: float | None = None
    budget_s: float | None = None
    retries: int = 0
    give_up_after: int = 3
    """The sweep ends when this many runs have crashed and none has ended well."""
    early_stop: EarlyStop = field(default_factory=EarlyStop)
    storage: str | None = None
    """Where Optuna keeps what workers share: a database's address, or "journal"."""
    backend: str = "local"
    """Who starts workers."""
    workers: int = 1
    backend_options: Mapping[str, str] = field(default_factory=dict)
    heartbeat_s: float = 10.0
    """How often a worker says that it lives; a run whose worker is silent six times as long is tried again."""
    dir: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    """As it stood in the file, to tell what was changed when a sweep continues."""

    def slot(self, number: int) -> Mapping[str, str]:
        return self.slots[number % len(self.slots)] if self.slots else {}


def read_sweep(path: Path) -> Sweep:
    """A sweep from its file. A script is looked for from here, then beside the file."""
    sweep = sweep_from(load(path), name=path.stem, where=path.name)
    if sweep.script is not None and not Path(sweep.script).exists() and (path.parent / sweep.script).exists():
        return replace(sweep, script=str(path.parent / sweep.script))
    return sweep


def sweep_from(raw: Any, *, name: str = "sweep", where: str = "the sweep") -> Sweep:
    """A sweep from a mapping, in our words or W&B's.

    >>> sweep = sweep_from({"program": "train.py", "method": "random", "run_cap": 9, "parameters": {"lr": [0.1, 0.01]},
    ...                     "metric": {"name": "val_loss", "goal": "minimize"}})
    >>> sweep.script, sweep.runs, sweep.metric
    ('train.py', 9, Metric(name='val_loss', goal='min', of='summary', target=None))
    """
    fields = Fields(raw, where)
    for ignored in ("description", "entity", "kind", "version", "job", "image_uri"):  # W&B's, without meaning here
        fields.take(ignored)
    metric = _metric(fields.take("metric"), where)
    method = fields.one_of("method", METHODS, "random")
    slots = _slots(fields, where)
    parallel = fields.whole("parallel", least=1, default=len(slots) or 1) or 1
    made = Sweep(
        name=_name(fields.text("name", default=name) or name, where),
        space=SearchSpace.parse(fields.take("parameters"), f"{where}: parameters"),
        method="tpe" if method == "bayes" else method,
        metric=metric,
        runs=fields.whole("runs", "run_cap", "count", least=1),
        script=fields.text("script", "program"),
        module=fields.text("module"),
        command=fields.words("command"),
        watch=fields.flag("watch", default=True),
        run_options=fields.words("run_options"),
        arguments=_arguments(fields.take("arguments"), where),
        fixed=fields.words("args"),
        parallel=parallel,
        slots=slots,
        environment=_variables(fields.take("environment", "env", default={}), f"{where}: environment"),
        seed=fields.whole("seed"),
        timeout_s=fields.seconds("timeout"),
        budget_s=fields.seconds("budget"),
        retries=fields.whole("retries", default=0) or 0,
        give_up_after=fields.whole("give_up_after", default=3) or 0,
        early_stop=early_stop_from(fields.take("early_stop", "early_terminate"), f"{where}: early_stop"),
        storage=fields.text("storage"),
        backend=fields.one_of("backend", BACKENDS, "local"),
        workers=fields.whole("workers", least=1, default=1) or 1,
        backend_options=_variables(fields.take("backend_options", default={}), f"{where}: backend_options"),
        heartbeat_s=fields.seconds("heartbeat") or 10.0,
        dir=fields.text("dir"),
        project=fields.text("project"),
        tags=fields.words("tags"),
        raw=dict(raw),
    )
    fields.done()
    _check(made, where)
    return made


def _check(sweep: Sweep, where: str) -> None:
    if sum(one is not None for one in (sweep.script, sweep.module)) > 1:
        raise ConfigError(f"{where} has both `script` and `module`; keep one")
    if sweep.metric is None and (sweep.early_stop.pruner != "none" or sweep.method not in ("grid", "random")):
        asking = f"method {sweep.method}" if sweep.method not in ("grid", "random") else "early_stop"
        raise ConfigError(f"{where}: {asking} looks at a metric; add `metric: {{name: val_loss, goal: min}}`")


def _name(text: str, where: str) -> str:
    if not text.strip() or len(text) > 200:
        raise ConfigError(f"{where}: name {text[:40]!r} must have 1 to 200 letters")
    return text


def _metric(raw: Any, where: str) -> Metric | None:
    if raw is None:
        return None
    if isinstance(raw, str):
        return Metric(raw)
    fields = Fields(raw, f"{where}: metric")
    name = fields.text("name")
    goal = fields.take("goal", default="min")
    of = fields.one_of("of", ("summary", "last", "best"), "summary")
    target = fields.number("target")
    fields.take("impute", "impute_while_running")  # W&B's
    fields.done()
    if not name:
        raise ConfigError(f"{where}: metric needs the name of what the script logs, like `name: val_loss`")
    if goal not in _GOALS:
        raise fields.wrong("goal", goal, "min or max")
    return Metric(name, _GOALS[goal], of, target)  # type: ignore[arg-type]


def _arguments(raw: Any, where: str) -> Arguments:
    if raw is None:
        return Arguments()
    if isinstance(raw, str):
        raw = {"style": raw}
    fields = Fields(raw, f"{where}: arguments")
    made = Arguments(fields.one_of("style", STYLES, "equals"), fields.one_of("booleans", BOOLEANS, "value"))
    fields.done()
    return made


def _slots(fields: Fields, where: str) -> tuple[Mapping[str, str], ...]:
    """`gpus: [0, 1]`, `gpus: 2`, or the variables of each slot written out."""
    gpus = fields.take("gpus")
    slots = fields.take("slots")
    if gpus is not None and slots is not None:
        raise ConfigError(f"{where} has both `gpus` and `slots`; keep one")
    if gpus is not None:
        listed = list(range(gpus)) if isinstance(gpus, int) and not isinstance(gpus, bool) else gpus
        if not isinstance(listed, list) or not listed:
            raise fields.wrong("gpus", gpus, "a number of GPUs or a list of them, like [0, 1] or ['0,1', '2,3']")
        return tuple({"CUDA_VISIBLE_DEVICES": _joined(one)} for one in listed)
    if slots is None:
        return ()
    if not isinstance(slots, list) or not slots:
        raise fields.wrong("slots", slots, "a list of variables for each, like [{CUDA_VISIBLE_DEVICES: 0}]")
    return tuple(_variables(one, f"{where}: slots") for one in slots)


def _joined(gpu: Any) -> str:
    return ",".join(str(one) for one in gpu) if isinstance(gpu, list) else str(gpu)


def _variables(raw: Any, where: str) -> dict[str, str]:
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where} is {raw!r}; expected variables with values, like {{OMP_NUM_THREADS: 1}}")
    made = {str(name): "" if value is None else str(value) for name, value in raw.items()}
    for name, value in made.items():
        if not name or "=" in name or "\0" in name + value:
            raise ConfigError(f"{where}: {name!r} cannot be the name of a variable")
    return made
