"""What a script sends to Weights & Biases. Nothing more is sent than the script sends, and a disabled W&B is heard too.

Only the run that `wandb.init` gives is listened to, on the object itself: W&B's own service and its other processes
are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from types import ModuleType
from typing import Any, Literal

from stepscope import fence
from stepscope.common import clocks
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trackers.files import noted
from stepscope.launch.trackers.name_registry import Hub, Origin
from stepscope.records import Alert, MetricRule, Severity
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

TOOL = "wandb"
_SUMMARIES: tuple[Literal["min", "max", "mean", "last", "first", "none"], ...]
_SUMMARIES = ("min", "max", "mean", "last", "first", "none")
_LEVELS: dict[str, Severity] = {"INFO": "info", "WARN": "warning", "ERROR": "error"}


def watch_wandb(imports: Imports, installed: Installed, hub: Hub) -> None:
    """Listen to `wandb.init` and to the runs it makes, from the moment the script imports wandb."""
    imports.when("wandb", lambda module: _hook(module, installed, hub))


def _hook(wandb: ModuleType, installed: Installed, hub: Hub) -> None:
    followed: list[Any] = []

    def follow(run: Any) -> None:
        if run is not None and not any(run is one for one in followed):  # `init` may return the run that is open
            followed.append(run)
            _Follower(wandb, run, installed, hub).begin()

    def layer(start: Any) -> Any:
        @wraps(start)
        def init(*args: Any, **kwargs: Any) -> Any:
            run = start(*args, **kwargs)
            fence.call("recording what goes to W&B", follow, run)
            return run

        return init

    installed.wrap("wandb:init", layer, wandb)
    installed.add(followed.clear)


class _Follower:
    """Stands beside one W&B run."""

    def __init__(self, wandb: ModuleType, run: Any, installed: Installed, hub: Hub) -> None:
        self._wandb = wandb
        self._run = run
        self._installed = installed
        self._hub = hub
        number = as_name(getattr(run, "id", None) or id(run))
        self._origin = Origin(TOOL, number, as_name(getattr(run, "name", None) or number))
        self._step = _whole(getattr(run, "starting_step", 0))

    def begin(self) -> None:
        run = self._run
        disabled = bool(getattr(run, "disabled", False)) or not hasattr(type(run), "_log")
        self._beside("log" if disabled else "_log", self._logged)  # `_log` is what `log` and `watch` both come to
        self._beside("define_metric", self._defined)
        self._beside("alert", self._alerted)
        self._beside("log_artifact", self._artifact)
        self._configured(dict(_items(run.config)), overrule=False)
        self._callback("wandb:Config._callback", run.config, self._config_changed)
        if hasattr(type(run.summary), "_set_update_callback"):  # that of a disabled run is a plain dict
            self._callback("wandb:Summary._update_callback", run.summary, self._summed_up)

    def _beside(self, name: str, heard: Any) -> None:
        """Put a listener before a method of the run object, and before the module's function if it is that one."""
        method, layer = getattr(self._run, name, None), self._hub.beside("W&B", heard)
        self._installed.wrap(f"wandb:Run.{name}", layer, self._run)
        if method is not None and getattr(self._wandb, name, None) == method:
            # W&B has made it `wandb.log` before we could see it.
            self._installed.wrap(f"wandb:{name}", layer, self._wandb)

    def _callback(self, point: str, owner: Any, heard: Any) -> None:
        """Learn of changes where W&B itself learns of them."""
        before = getattr(owner, point.rpartition(".")[2], None)

        def both(*args: Any, **kwargs: Any) -> Any:
            result = before(*args, **kwargs) if before is not None else None
            fence.fenced("recording what goes to W&B")(heard)(*args, **kwargs)
            return result

        self._installed.replace(point, both, owner)

    # -- what is heard ----------------------------------------------------------------------------------------------

    def _logged(self, data: Any = None, step: Any = None, commit: Any = None, *rest: Any, **more: Any) -> None:
        from stepscope.launch.trackers.wandb_values import kept_values

        if not isinstance(data, Mapping):
            return
        if step is not None:
            self._step = max(self._step, _whole(step))
        values = kept_values(data)
        if values:
            self._hub.log(self._origin, values, self._step)
        if commit or (commit is None and step is None):
            self._step += 1

    def _config_changed(self, key: Any = None, val: Any = None, data: Any = None) -> None:
        if data is not None:
            self._configured(dict(_items(data)), overrule=True)
        elif key is not None:
            parts = [str(key)] if isinstance(key, str) else [str(part) for part in key]
            value: Any = val
            for part in reversed(parts):
                value = {part: value}
            self._configured(value, overrule=True)

    def _configured(self, values: dict[str, Any], *, overrule: bool) -> None:
        own = {name: value for name, value in values.items() if not str(name).startswith("_wandb")}
        if own:
            self._hub.target.settings(own, overrule)

    def _summed_up(self, record: Any) -> None:
        """The script sets summary values by hand; what follows from the history does not come here."""
        from stepscope.launch.trackers.wandb_values import dotted

        found: dict[str, Any] = {}
        for item in getattr(record, "update", ()):
            value = item.value
            if isinstance(value, (int, float, str, bool)):
                found[".".join(str(part) for part in item.key)] = value
            elif isinstance(value, Mapping):
                found.update(dotted({".".join(str(part) for part in item.key): value}))
        if found:
            self._hub.target.summary(found)

    def _defined(self, name: Any, step_metric: Any = None, *rest: Any, **more: Any) -> None:
        x = None if step_metric is None else as_name(getattr(step_metric, "name", step_metric))
        words = str(more.get("summary") or "").split(",")
        summary = next((word for word in _SUMMARIES if word in words), None)
        goal = {"minimize": "min", "maximize": "max"}.get(str(more.get("goal")))
        known = as_name(name)
        if "*" in known[:-1] or (x is None and summary is None and goal is None):
            return
        named = self._hub.named(self._origin, known)
        rule = MetricRule(time=clocks.time(), name=named, summary=summary, x=x, goal=goal)  # type: ignore[arg-type]
        self._hub.target.event(rule)

    def _alerted(self, title: Any, text: Any = "", level: Any = None, *rest: Any, **more: Any) -> None:
        word = str(getattr(level, "value", level) or "INFO").upper()
        self._hub.target.event(
            Alert(
                time=clocks.time(),
                title=mask_text(as_name(title)),
                text=mask_text(as_name(text)),
                level=_LEVELS.get(word, "info"),
                step=self._hub.target.step,
            )
        )

    def _artifact(
        self, artifact: Any, name: Any = None, type: Any = None, aliases: Any = None, *rest: Any, **more: Any
    ) -> None:
        """Its name and where its files lie; the files are W&B's to keep."""
        if isinstance(artifact, str):
            files = {artifact: artifact}
        else:
            entries = getattr(getattr(artifact, "manifest", None), "entries", {})
            files = {path: str(entry.ref or entry.local_path or "") for path, entry in entries.items()}
        known = name or getattr(artifact, "_name", None) or getattr(artifact, "name", None) or "artifact"
        kind = type or getattr(artifact, "type", None) or "file"
        self._hub.target.event(noted(str(known), str(kind), files, aliases or [], self._hub.target.step))


def _items(config: Any) -> list[tuple[str, Any]]:
    return [(str(name), config[name]) for name in config.keys()]  # noqa: SIM118


def _whole(step: Any) -> int:
    try:
        return int(step)
    except (TypeError, ValueError):
        return 0
