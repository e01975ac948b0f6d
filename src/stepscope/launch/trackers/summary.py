"""What a TensorFlow or Keras script writes with `tf.summary`, as far as it is written at once (not inside a graph)."""

from __future__ import annotations

import sys
from functools import partial, wraps
from typing import Any
from weakref import WeakKeyDictionary

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trackers.name_registry import Hub, Origin

Folders = WeakKeyDictionary[Any, str]

_WRITERS = "tensorflow.python.ops.summary_ops_v2"
_MODULES = {
    "scalar": "tensorboard.plugins.scalar.summary_v2",
    "histogram": "tensorboard.plugins.histogram.summary_v2",
    "image": "tensorboard.plugins.image.summary_v2",
    "text": "tensorboard.plugins.text.summary_v2",
    "audio": "tensorboard.plugins.audio.summary_v2",
}


def watch_tf_summary(imports: Imports, installed: Installed, hub: Hub) -> None:
    """Listen to the functions from the moment TensorFlow imports them."""
    folders: Folders = WeakKeyDictionary()
    for name, module in _MODULES.items():
        imports.when(module, partial(_listen, installed, hub, folders, name))
    imports.when(_WRITERS, partial(_remember_folders, installed, folders))


def _listen(installed: Installed, hub: Hub, folders: Folders, name: str, module: Any) -> None:
    layer = hub.beside("TensorBoard", partial(_heard, hub, folders, name))
    installed.wrap(f"{_MODULES[name]}:{name}", layer, module)


def _heard(hub: Hub, folders: Folders, kind: str, name: Any, data: Any, *args: Any, **kwargs: Any) -> None:
    step: Any = kwargs.get("step", args[1] if kind == "audio" and len(args) > 1 else args[0] if args else None)
    tensorflow = sys.modules.get("tensorflow")
    if step is None and tensorflow is not None:
        step = tensorflow.summary.experimental.get_step()
    if hasattr(data, "graph") and not hasattr(data, "numpy"):  # a symbol: it has no value yet
        return
    value = _value(kind, data.numpy() if hasattr(data, "numpy") else data, args, kwargs)
    if value is not None:
        number = int(step.numpy()) if hasattr(step, "numpy") else step
        place = _folder(folders)
        hub.log(Origin("tensorboard", place, place), {str(name): value}, number)


def _remember_folders(installed: Installed, folders: Folders, module: Any) -> None:
    """Note for each writer where it writes, when it is made: TensorFlow does not keep it."""

    def layer(make: Any) -> Any:
        @wraps(make)
        def made(self: Any, *args: Any, **kwargs: Any) -> None:
            make(self, *args, **kwargs)
            fence.call("recording what goes to TensorBoard", _note, folders, self, [*args, *kwargs.values()])

        return made

    installed.wrap(f"{_WRITERS}:_ResourceSummaryWriter.__init__", layer)


def _note(folders: Folders, writer: Any, given: list[Any]) -> None:
    for one in given:
        folder: Any = getattr(one, "keywords", {}).get("logdir")
        if folder is not None:
            raw = folder.numpy() if hasattr(folder, "numpy") else folder
            folders[writer] = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def _folder(folders: Folders) -> str:
    """Where the writer of the moment writes: Keras has one for training and one for validation, with the same names."""
    module = sys.modules.get(_WRITERS)
    writer: Any = getattr(getattr(module, "_summary_state", None), "writer", None)
    return "" if writer is None else folders.get(writer, "")


def _value(kind: str, data: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    import numpy as np

    from stepscope.launch.trackers import pictures
    from stepscope.track.media import Audio, Histogram, Markdown

    if kind == "scalar":
        return float(data)
    if kind == "histogram":
        return Histogram(np.asarray(data))
    if kind == "image":
        return pictures.image(np.asarray(data)[: kwargs.get("max_outputs", 3)], "NHWC")
    if kind == "audio":
        rate = kwargs.get("sample_rate", args[0] if args else 44100)
        return [Audio(clip, rate=int(rate)) for clip in np.asarray(data)[: kwargs.get("max_outputs", 3)]]
    words = data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
    return Markdown(words)
