"""What a TensorFlow or Keras script writes with `tf.summary`, as far as it is written at once (not inside a graph)."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from stepscope.launch.heard.hub import Hub, Origin
from stepscope.launch.imports import Imports
from stepscope.record.restore import Installed

__all__ = ["watch_tf_summary"]

_MODULES = {
    "scalar": "tensorboard.plugins.scalar.summary_v2",
    "histogram": "tensorboard.plugins.histogram.summary_v2",
    "image": "tensorboard.plugins.image.summary_v2",
    "text": "tensorboard.plugins.text.summary_v2",
    "audio": "tensorboard.plugins.audio.summary_v2",
}


def watch_tf_summary(imports: Imports, installed: Installed, hub: Hub) -> None:
    """Listen to the functions from the moment TensorFlow imports them."""
    for name, module in _MODULES.items():
        imports.when(module, partial(_listen, installed, hub, name))


def _listen(installed: Installed, hub: Hub, name: str, module: Any) -> None:
    function = module.__dict__.get(name)
    if function is not None:
        installed.patch(module, name, hub.beside("TensorBoard", function, partial(_heard, hub, name)))


def _heard(hub: Hub, kind: str, name: Any, data: Any, *args: Any, **kwargs: Any) -> None:
    step: Any = kwargs.get("step", args[1] if kind == "audio" and len(args) > 1 else args[0] if args else None)
    tensorflow = sys.modules.get("tensorflow")
    if step is None and tensorflow is not None:
        step = tensorflow.summary.experimental.get_step()
    if hasattr(data, "graph") and not hasattr(data, "numpy"):  # a symbol: it has no value yet
        return
    value = _value(kind, data.numpy() if hasattr(data, "numpy") else data, args, kwargs)
    if value is not None:
        number = int(step.numpy()) if hasattr(step, "numpy") else step
        hub.log(Origin("tensorboard"), {str(name): value}, number)


def _value(kind: str, data: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    import numpy as np

    from stepscope.launch.heard import pictures
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
