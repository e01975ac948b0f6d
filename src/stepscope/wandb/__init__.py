"""`import stepscope.wandb as wandb`: W&B's calls on Stepscope's runs. Local, no account, nothing is sent.

    import stepscope.wandb as wandb

    wandb.init(project="vae", config={"lr": 1e-3})
    wandb.log({"loss": 0.5, "sample": wandb.Image(x)})
    wandb.finish()

docs/integrations/wandb.md describes what each call does here. A missing name raises an error with an alternative.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.wandb import data_types as data_types, errors as errors, plot as plot, util as util
    from stepscope.wandb.alerts import AlertLevel as AlertLevel
    from stepscope.wandb.artifacts import Artifact as Artifact
    from stepscope.wandb.calls import (
        alert as alert,
        define_metric as define_metric,
        link_artifact as link_artifact,
        log as log,
        log_artifact as log_artifact,
        log_code as log_code,
        log_model as log_model,
        login as login,
        mark_preempting as mark_preempting,
        restore as restore,
        save as save,
        setup as setup,
        teardown as teardown,
        unwatch as unwatch,
        use_artifact as use_artifact,
        use_model as use_model,
        watch as watch,
    )
    from stepscope.wandb.errors import CommError as CommError, Error as Error, UsageError as UsageError
    from stepscope.wandb.handle import Run as Run
    from stepscope.wandb.images import Classes as Classes, Image as Image
    from stepscope.wandb.opening import finish as finish, init as init
    from stepscope.wandb.other_media import (
        Audio as Audio,
        Histogram as Histogram,
        Html as Html,
        Molecule as Molecule,
        Object3D as Object3D,
        Plotly as Plotly,
        Video as Video,
    )
    from stepscope.wandb.plot import plot_table as plot_table
    from stepscope.wandb.public import Api as Api
    from stepscope.wandb.settings import Settings as Settings
    from stepscope.wandb.sweeps import agent as agent, sweep as sweep
    from stepscope.wandb.tables import Table as Table

    run: Run | None
    config: Any
    summary: Any

__version__ = "0.31.0+stepscope"
"""The newest W&B version that these calls are tested against; scripts that check the version get this one."""

# Where each name is defined; all are imported on first use.
_HOMES = {
    "init": "opening",
    "finish": "opening",
    "sweep": "sweeps",
    "agent": "sweeps",
    "Run": "handle",
    "Settings": "settings",
    "Config": "run_config",
    "AlertLevel": "alerts",
    "Artifact": "artifacts",
    "Api": "public",
    "Error": "errors",
    "CommError": "errors",
    "UsageError": "errors",
    "Audio": "other_media",
    "Graph": "other_media",
    "Histogram": "other_media",
    "Html": "other_media",
    "Molecule": "other_media",
    "Object3D": "other_media",
    "Plotly": "other_media",
    "Video": "other_media",
    "box3d": "other_media",
    "Classes": "images",
    "Image": "images",
    "Table": "tables",
    "plot_table": "plot",
    "attach": "calls",
    "ensure_configured": "calls",
    "login": "calls",
    "require": "calls",
    "restore": "calls",
    "setup": "calls",
    "teardown": "calls",
    "termerror": "calls",
    "termlog": "calls",
    "termwarn": "calls",
    "ArtifactTTL": "calls",
}
_ALIASES = {"join": "finish", "PublicApi": "Api"}
_MODULES = ("plot", "errors", "util", "data_types", "apis", "sdk", "sklearn", "keras", "integration")
_OF_THE_RUN = {
    "alert", "define_metric", "link_artifact", "link_model", "log", "log_artifact", "log_code", "log_model",
    "mark_preempting", "pin_config_keys", "save", "unwatch", "use_artifact", "use_model", "watch",
}  # fmt: skip
"""Functions that are methods of the open run."""
_STATE = ("run", "config", "summary")

__all__ = [*_HOMES, *_ALIASES, *_MODULES, *sorted(_OF_THE_RUN), *_STATE]


class _Door(ModuleType):
    """The module itself: `wandb.run`, `wandb.config` and `wandb.summary` are those of the open run."""

    @property
    def run(self) -> Run | None:
        run: Run | None = _open_runs().open_run()
        return run

    @property
    def config(self) -> Any:
        run = _open_runs().open_run()
        return run.config if run is not None else _NotYet("config")

    @config.setter
    def config(self, values: Any) -> None:  # old usage: wandb.config = {...}
        _open_runs().the_run("config").config.update(values, allow_val_change=True)

    @property
    def summary(self) -> Any:
        run = _open_runs().open_run()
        return run.summary if run is not None else _NotYet("summary")


class _NotYet:
    """Placeholder for a run's settings; every use raises an error that `wandb.init()` must come first."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def _refuse(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from stepscope.wandb.errors import Error

        raise Error(f"You must call wandb.init() before wandb.{self.__dict__['_name']}{name}")

    def __getattr__(self, name: str) -> Any:
        return self._refuse(name if name.startswith("__") else f".{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse(f".{name}")

    def __getitem__(self, name: Any) -> Any:
        return self._refuse(f"[{name!r}]")

    def __setitem__(self, name: Any, value: Any) -> None:
        self._refuse(f"[{name!r}]")


def _open_runs() -> Any:
    return import_module("stepscope.wandb.open_runs")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"stepscope.wandb.{name}")
    if name in _OF_THE_RUN:
        return getattr(import_module("stepscope.wandb.calls"), name)
    home = _HOMES.get(_ALIASES.get(name, name))
    if home is not None:
        value = globals()[name] = getattr(import_module(f"stepscope.wandb.{home}"), _ALIASES.get(name, name))
        return value
    from stepscope.wandb.wording import instead_of

    raise AttributeError(instead_of(name))


def __dir__() -> list[str]:
    return sorted(__all__)


sys.modules[__name__].__class__ = _Door
