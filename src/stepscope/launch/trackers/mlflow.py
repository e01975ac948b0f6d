"""What a script sends to MLflow, through the fluent functions, a client, or autologging: all of it comes by here."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from stepscope.common import clocks
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trackers.files import files_in, noted
from stepscope.launch.trackers.name_registry import Hub, Origin
from stepscope.launch.trackers.pictures import array
from stepscope.records import TagsChange
from stepscope.runs.format.image_head import mime_of
from stepscope.track.config import from_text
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

TOOL = "mlflow"
_SERVICE = "mlflow.tracking._tracking_service.client"
_CLIENT = "mlflow.tracking.client"
_LARGEST = 8 << 20
_LONGEST_TAG = 200


def watch_mlflow(imports: Imports, installed: Installed, hub: Hub) -> None:
    """Listen where metrics, parameters and tags leave for the store, and where a client takes figures and files."""
    listener = _Listener(hub)
    service = {
        "log_metric": listener.metric,
        "log_param": listener.param,
        "set_tag": listener.tag,
        "log_batch": listener.batch,
    }
    client = {
        "log_figure": listener.figure,
        "log_image": listener.image,
        "log_text": listener.text,
        "log_dict": listener.dictionary,
        "log_table": listener.table,
        "log_artifact": listener.artifact,
        "log_artifacts": listener.artifact,
    }
    imports.when(_SERVICE, lambda module: _listen(module, "TrackingServiceClient", service, installed, hub))
    imports.when(_CLIENT, lambda module: _listen(module, "MlflowClient", client, installed, hub))


def _listen(module: Any, name: str, methods: dict[str, Any], installed: Installed, hub: Hub) -> None:
    for method, heard in methods.items():
        layer = hub.beside("MLflow", partial(_without_self, heard))
        installed.wrap(f"{module.__name__}:{name}.{method}", layer)


def _without_self(heard: Any, owner: Any, *args: Any, **kwargs: Any) -> None:
    heard(*args, **kwargs)


class _Listener:
    """Each method takes the arguments of MLflow's method of that name."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._tags: dict[str, str] = {}

    def _log(self, run_id: Any, values: dict[str, Any], step: Any = None) -> None:
        self._hub.log(Origin(TOOL, str(run_id), _run_name(str(run_id))), values, step)

    def metric(
        self, run_id: Any, key: Any, value: Any, timestamp: Any = None, step: Any = None, *rest: Any, **more: Any
    ) -> None:
        self._log(run_id, {str(key): value}, step)

    def param(self, run_id: Any, key: Any, value: Any, *rest: Any, **more: Any) -> None:
        self._hub.target.settings({str(key): from_text(value) if isinstance(value, str) else value}, False)

    def tag(self, run_id: Any, key: Any, value: Any, *rest: Any, **more: Any) -> None:
        name = str(key)
        if name.startswith("mlflow."):
            return
        words = mask_text(as_name(f"{name}={value}" if str(value) else name))[:_LONGEST_TAG]
        before = self._tags.get(name)
        self._tags[name] = words
        if before != words:
            gone = [] if before is None else [before]
            self._hub.target.event(TagsChange(time=clocks.time(), add=[words], remove=gone))

    def batch(self, run_id: Any, metrics: Any = (), params: Any = (), tags: Any = (), *rest: Any, **more: Any) -> None:
        rows: dict[Any, dict[str, Any]] = {}
        for one in metrics or ():
            row = rows.setdefault(one.step, {})
            if one.key in row:  # twice at one step: each is a point
                self._log(run_id, {one.key: row.pop(one.key)}, one.step)
            row[one.key] = one.value
        for step, row in rows.items():
            self._log(run_id, row, step)
        self._hub.target.settings({one.key: from_text(str(one.value)) for one in params or ()}, False)
        for one in tags or ():
            self.tag(run_id, one.key, one.value)

    # -- files ------------------------------------------------------------------------------------------------------

    def figure(self, run_id: Any, figure: Any, artifact_file: Any, *rest: Any, **more: Any) -> None:
        from stepscope.track.media import Figure

        self._log(run_id, {str(artifact_file): Figure(figure)})

    def image(
        self,
        run_id: Any,
        image: Any,
        artifact_file: Any = None,
        key: Any = None,
        step: Any = None,
        *rest: Any,
        **more: Any,
    ) -> None:
        from stepscope.track.media import Image

        inner = getattr(image, "image", None)  # mlflow.Image holds a PIL image
        made = Image(inner if inner is not None else image if hasattr(image, "getbands") else array(image))
        self._log(run_id, {str(key if key is not None else artifact_file): made}, step)

    def text(self, run_id: Any, text: Any, artifact_file: Any, *rest: Any, **more: Any) -> None:
        from stepscope.track.media import Html, Markdown, Text

        name = str(artifact_file)
        kind = Html if name.endswith((".html", ".htm")) else Markdown if name.endswith(".md") else Text
        self._log(run_id, {name: kind(str(text))})

    def dictionary(self, run_id: Any, dictionary: Any, artifact_file: Any, *rest: Any, **more: Any) -> None:
        import json

        from stepscope.track.media import Text

        self._log(run_id, {str(artifact_file): Text(json.dumps(dictionary, indent=2, default=str))})

    def table(self, run_id: Any, data: Any, artifact_file: Any, *rest: Any, **more: Any) -> None:
        from stepscope.track.media import Table

        self._log(run_id, {str(artifact_file): Table(data)})

    def artifact(self, run_id: Any, local_path: Any = None, artifact_path: Any = None, *rest: Any, **more: Any) -> None:
        from stepscope.track.media import Image

        path = Path(str(more.get("local_dir") or local_path))
        name = f"{artifact_path}/{path.name}" if artifact_path else path.name
        if path.is_file() and path.stat().st_size <= _LARGEST:
            with path.open("rb") as stream:
                if (mime_of(stream.read(4096)) or "").startswith("image/"):
                    self._log(run_id, {name: Image(path)})
                    return
        self._hub.target.event(noted(name, "file", files_in(path), [], self._hub.target.step))


def _run_name(run_id: str) -> str:
    """The name of a run that is open here: nested runs have the same metrics, and a name tells more than an id."""
    fluent = sys.modules.get("mlflow.tracking.fluent")
    stack: Any = getattr(fluent, "_active_run_stack", None)
    runs = stack.get() if hasattr(stack, "get") else stack
    for run in runs or ():
        if run.info.run_id == run_id:
            return as_name(getattr(run.info, "run_name", None) or run_id)
    return run_id[:8]
