from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.option_lines import is_read, option_line
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made
from stepscope.evidence.options import Option, Options
from stepscope.records.place import Place

_OF_OPTIMIZER = {
    "lr": "lr", "learning_rate": "lr", "weight_decay": "weight_decay", "wd": "weight_decay", "momentum": "momentum",
    "nesterov": "nesterov", "eps": "eps", "adam_eps": "eps",
}  # fmt: skip
_OF_LOADER = ("batch_size", "bs", "train_batch_size")
_OF_CLIPPING = (
    "clip",
    "grad_clip",
    "clip_grad",
    "max_grad_norm",
    "clip_norm",
    "gradient_clip",
    "max_norm",
    "grad_norm",
)
_ENOUGH = 3


@rule("config.option-unused", severity="warning", needs="end")
def option_unused(run: Evidence) -> Iterator[Proof]:
    """An option is parsed and nothing uses it: the training runs with another value.

    Why it matters: the command line, the printed settings and the run's config all say one thing, and the training does
    another. Every value that is tried gives the same result.

    What to do: give the option to what it is meant for: `AdamW(..., weight_decay=args.weight_decay)`.

    How it is found: no line of the script reads the option, and what it is named for had another value in this run: the
    optimizer's setting, the loader's batch size, gradients that nobody clipped, a seed that nobody set.

    Bad:
        parser.add_argument("--weight-decay", type=float, default=0.1)
        optimizer = AdamW(model.parameters(), lr=args.lr)
    Good:
        optimizer = AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    """
    options = run[Options]
    if run.progress.step < _ENOUGH:
        return
    for option in options.all:
        if option.value is None or is_read(run, option):
            continue
        said = _contradicted(run, option)
        if said is None:
            continue
        where, instead = said
        line = option_line(run, option)
        yield Proof(
            where=where or line or options.parsed,
            message=f"{option.flags[-1]} is {option.value:g}, but nothing reads it: {instead}",
            label=f"{option.name} is not given to it",
            evidence={"option": option.name, "value": option.value, "given": option.is_given},
            fix=f"use args.{option.name} here",
            related=[(line, "the option")] if line is not None and where is not None else (),
        )


def _contradicted(run: Evidence, option: Option) -> tuple[Place | None, str] | None:
    """(where it should have been used, what was used instead); None where nothing in the run says otherwise."""
    value = option.value or 0.0
    setting = _OF_OPTIMIZER.get(option.name)
    if setting is not None:
        return _of_optimizer(run, setting, value)
    if option.name in _OF_LOADER:
        loaders = [one for one in run.loaders.all if run.batches.trains_on(one) and one.batch_size is not None]
        if loaders and all(one.batch_size != int(value) for one in loaders):
            return loaders[0].made, f"the batches have {loaders[0].batch_size} samples"
    if option.name in _OF_CLIPPING and value > 0 and not run.gradient_clips.all:
        return None if not run.steps.steps else (run.steps.steps[-1].place, "gradients are never clipped")
    if option.name == "seed" and not any(one.value == int(value) for one in run.global_settings.seeds):
        return None, "no seed is set to it"
    return None


def _of_optimizer(run: Evidence, setting: str, value: float) -> tuple[Place | None, str] | None:
    stepped: list[Made] = [made for made in run.optimizers.made if run.steps.count_of(made.number) >= _ENOUGH]
    known = [made for made in stepped if isinstance(made.defaults.get(setting), (int, float))]
    if not known or len(known) != len(stepped) or not value:
        return None
    if any(isclose(float(made.defaults[setting]), value, rel_tol=1e-6) or made.groups > 1 for made in known):
        return None
    used = float(known[0].defaults[setting])
    return known[0].place, f"{known[0].type} has {setting} {used:g}"
