"""What a script sends to TensorBoard, kept with the run as well. Its own event files are written as ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from stepscope import fence
from stepscope.launch.imports import Imports
from stepscope.record.restore import Installed

__all__ = ["watch_tensorboard"]

PREFIX = "tensorboard/"
_WRITERS = ("torch.utils.tensorboard.writer", "tensorboardX.writer")

Log = Callable[[Mapping[str, Any], "int | None"], None]


def watch_tensorboard(
    imports: Imports, installed: Installed, log: Log, settings: Callable[[Mapping[str, Any]], None]
) -> None:
    """Listen to every SummaryWriter from the moment the script imports one."""
    for name in _WRITERS:
        imports.when(name, lambda module: _listen(module.SummaryWriter, installed, log, settings))


def _listen(kind: Any, installed: Installed, log: Log, settings: Callable[[Mapping[str, Any]], None]) -> None:
    for method, heard in _HEARD.items():
        if method in kind.__dict__:
            installed.patch(kind, method, _beside(kind.__dict__[method], heard, log))
    if "add_hparams" in kind.__dict__:
        installed.patch(kind, "add_hparams", _beside(kind.__dict__["add_hparams"], _hparams(settings), log))


def _beside(method: Any, heard: Callable[..., tuple[Mapping[str, Any], Any]], log: Log) -> Any:
    @fence.fenced("recording what goes to TensorBoard")
    def record(args: Any, kwargs: Any) -> None:
        values, step = heard(*args, **kwargs)
        if values:
            log({PREFIX + name: value for name, value in values.items()}, None if step is None else int(step))

    @wraps(method)
    def both(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        record(args, kwargs)
        return result

    return both


# Each takes the arguments of its `add_` method and gives (values, step).


def _scalar(tag: str, scalar_value: Any, global_step: Any = None, *rest: Any, **more: Any) -> Any:
    return {tag: scalar_value}, global_step


def _scalars(main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, *rest: Any) -> Any:
    return {f"{main_tag}/{name}": value for name, value in tag_scalar_dict.items()}, global_step


def _histogram(tag: str, values: Any, global_step: Any = None, *rest: Any, **more: Any) -> Any:
    from stepscope.track.media import Histogram

    return {tag: Histogram(values)}, global_step


def _image(tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None, dataformats: str = "CHW") -> Any:
    from stepscope.track.media import Image

    if isinstance(img_tensor, str):
        return {}, None
    array = img_tensor.detach().cpu().numpy() if hasattr(img_tensor, "detach") else img_tensor
    if dataformats == "CHW":
        array = array.transpose(1, 2, 0)
    return {tag: Image(array)}, global_step


def _text(tag: str, text_string: str, global_step: Any = None, *rest: Any, **more: Any) -> Any:
    from stepscope.track.media import Markdown

    return {tag: Markdown(text_string)}, global_step


def _figure(tag: str, figure: Any, global_step: Any = None, *rest: Any, **more: Any) -> Any:
    return ({}, None) if isinstance(figure, list) else ({tag: figure}, global_step)


def _hparams(settings: Callable[[Mapping[str, Any]], None]) -> Callable[..., Any]:
    def heard(hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], *rest: Any, **more: Any) -> Any:
        settings(dict(hparam_dict))
        return {f"hparams/{name}": value for name, value in metric_dict.items()}, None

    return heard


_HEARD: dict[str, Callable[..., Any]] = {
    "add_scalar": _scalar,
    "add_scalars": _scalars,
    "add_histogram": _histogram,
    "add_image": _image,
    "add_text": _text,
    "add_figure": _figure,
}
