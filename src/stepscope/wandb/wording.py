"""Messages about W&B features that Stepscope handles differently: each once, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepscope.track.messages import say_once

_INSTEAD = {
    "EvalTable": "use wandb.Table",
    "lightning": "use stepscope.integrations.lightning",
    "fastai": "use stepscope.integrations.fastai",
    "xgboost": "log from the training's own callback with wandb.log(...)",
    "lightgbm": "log from the training's own callback with wandb.log(...)",
    "catboost": "log from the training's own callback with wandb.log(...)",
    "tensorboard": "use stepscope.tensorboard.SummaryWriter, or `stepscope import` event files",
    "tensorflow": "use stepscope.integrations.keras, or wandb.log(...)",
    "gym": "log a wandb.Video of the frames",
    "sacred": "pass config= to wandb.init",
    "jupyter": "stepscope.init() in a notebook shows a panel by itself",
    "controller": "use wandb.agent(sweep_id, function), or the command `stepscope sweep`",
    "Visualize": "use wandb.plot.line, scatter, bar or histogram",
    "visualize": "use wandb.plot.line, scatter, bar or histogram",
    "JoinedTable": "join the tables with pandas and log the result as a wandb.Table",
    "launch": "use `stepscope run` or `stepscope sweep`",
    "docker": "it is not needed: nothing is started elsewhere",
    "sagemaker_auth": "it is not needed: there is no account",
    "InternalApi": "use wandb.Api()",
    "trigger": "its internal modules are not provided; use the public names of stepscope.wandb",
}


def instead_of(name: str) -> str:
    """The message for a W&B name that does not exist here."""
    advice = _INSTEAD.get(name, "docs/integrations/wandb.md lists what is covered")
    return f"stepscope.wandb has no {name!r}: {advice}"


def not_acted_on(what: str, why: str) -> None:
    """Report once that a call or an argument is accepted and does nothing."""
    say_once(("wandb", what), f"wandb.{what} is accepted and does nothing here: {why}")


def note_unused(call: str, given: Mapping[str, Any], reasons: Mapping[str, str]) -> None:
    """`not_acted_on` for each argument that was passed."""
    for name, why in reasons.items():
        if given.get(name) not in (None, False, "", ()):
            not_acted_on(f"{call}({name}=...)", why)
