"""`wandb.Settings`: any setting is accepted, since most concern a service that does not exist here; a few have an
effect.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.track.opening import DEFAULT_DIR

_VARIABLES = {
    "entity": "WANDB_ENTITY",
    "project": "WANDB_PROJECT",
    "run_name": "WANDB_NAME",
    "run_id": "WANDB_RUN_ID",
    "run_group": "WANDB_RUN_GROUP",
    "run_job_type": "WANDB_JOB_TYPE",
    "run_notes": "WANDB_NOTES",
    "run_tags": "WANDB_TAGS",
    "resume": "WANDB_RESUME",
    "mode": "WANDB_MODE",
    "root_dir": "WANDB_DIR",
}
_YES = ("true", "1", "yes", "on", "t", "y")


class Settings:
    """Named settings: `wandb.Settings(console="off", mode="disabled")`."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def get(self, name: str, default: Any = None) -> Any:
        value = self.__dict__.get(name)
        return default if value is None else value

    def update(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None  # every setting exists in W&B, and most are None

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings in the WANDB_* variables."""
    settings = Settings(**{name: environ[variable] for name, variable in _VARIABLES.items() if environ.get(variable)})
    if settings.run_tags:
        settings.update(run_tags=[tag.strip() for tag in settings.run_tags.split(",") if tag.strip()])
    if environ.get("WANDB_DISABLED", "").lower() in _YES:
        settings.update(mode="disabled")
    if environ.get("WANDB_CONSOLE"):
        settings.update(console=environ["WANDB_CONSOLE"])
    return settings


def joined(given: Any, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a run: the arguments of `init` override the environment."""
    settings = from_environment(environ)
    if isinstance(given, Settings):
        given = given.__dict__
    if isinstance(given, Mapping):
        settings.update(**{str(name): value for name, value in given.items() if value is not None})
    return settings


def store_for(dir: str | os.PathLike[str] | None = None) -> Path:
    """Where runs are stored: STEPSCOPE_DIR takes precedence, because it is specific to Stepscope."""
    chosen = os.environ.get("STEPSCOPE_DIR")
    return Path(chosen if chosen else Path(dir or ".") / DEFAULT_DIR).absolute()
