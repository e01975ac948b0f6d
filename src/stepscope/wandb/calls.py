"""The functions of the module: those of the open run, and those about a service that does not exist here."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar, cast

from stepscope.track.messages import say_once
from stepscope.wandb.files import restore as restore_file
from stepscope.wandb.handle import Run
from stepscope.wandb.open_runs import open_run, the_run
from stepscope.wandb.opening import finish
from stepscope.wandb.settings import Settings, joined

F = TypeVar("F", bound=Callable[..., Any])


def _of_the_run(method: F) -> F:
    """A method of the open run as a function; W&B's error if there is none."""
    name = method.__name__

    @wraps(method)
    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(the_run(f"{name}()"), name)(*args, **kwargs)

    return cast(F, function)


log = _of_the_run(Run.log)
define_metric = _of_the_run(Run.define_metric)
watch = _of_the_run(Run.watch)
unwatch = _of_the_run(Run.unwatch)
save = _of_the_run(Run.save)
alert = _of_the_run(Run.alert)
log_artifact = _of_the_run(Run.log_artifact)
use_artifact = _of_the_run(Run.use_artifact)
link_artifact = _of_the_run(Run.link_artifact)
log_model = _of_the_run(Run.log_model)
use_model = _of_the_run(Run.use_model)
link_model = _of_the_run(Run.link_model)
log_code = _of_the_run(Run.log_code)
mark_preempting = _of_the_run(Run.mark_preempting)
pin_config_keys = _of_the_run(Run.pin_config_keys)


def restore(name: str, run_path: str | None = None, replace: bool = False, root: str | None = None) -> Any:
    """A file that was stored with a run, written out and opened."""
    return restore_file(open_run(), name, run_path, replace, root)


def login(
    key: str | None = None,
    relogin: bool | None = None,
    host: str | None = None,
    force: bool | None = None,
    timeout: int | None = None,
    verify: bool = False,
    referrer: str | None = None,
    prompt: bool = True,
    anonymous: Any = None,
) -> bool:
    """Not needed: runs stay in a folder, and there is no account."""
    say_once("wandb login", "wandb.login() is not needed: runs stay on this machine")
    return True


def setup(settings: Settings | None = None) -> Settings:
    """Nothing to set up: no service is started."""
    return joined(settings)


def teardown(exit_code: int | None = None) -> None:
    """End the open run; no service has to be stopped."""
    finish(exit_code)


def attach(attach_id: str | None = None, run_id: str | None = None, *, run: Any = None) -> Any:
    """The open run: child processes log to it automatically."""
    return open_run()


def require(requirement: str | Iterable[str] | None = None, experiment: str | Iterable[str] | None = None) -> None:
    """Nothing is optional here."""


def ensure_configured() -> None:
    """Nothing to configure."""


def termlog(string: str = "", newline: bool = True, repeat: bool = True, prefix: bool = True) -> None:
    """A line on stderr; with repeat=False, once."""
    _say("", string, newline, repeat, prefix)


def termwarn(string: str, newline: bool = True, repeat: bool = True, prefix: bool = True) -> None:
    _say("WARNING ", string, newline, repeat, prefix)


def termerror(string: str, newline: bool = True, repeat: bool = True, prefix: bool = True) -> None:
    _say("ERROR ", string, newline, repeat, prefix)


_said: set[str] = set()


def _say(level: str, string: str, newline: bool, repeat: bool, prefix: bool) -> None:
    if not repeat and string in _said:
        return
    _said.add(string)
    sys.stderr.write(("stepscope: " if prefix else "") + level + string + ("\n" if newline else ""))


class ArtifactTTL(enum.Enum):
    """How long W&B keeps an artifact; here it lives as long as its run."""

    INHERIT = 0
