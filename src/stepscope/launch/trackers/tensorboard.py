"""What a script sends to TensorBoard through a SummaryWriter, torch's or tensorboardX's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trackers import pictures
from stepscope.launch.trackers.name_registry import Hub, Origin

TOOL = "tensorboard"
_WRITERS = ("torch.utils.tensorboard.writer", "tensorboardX.writer")

Heard = tuple[Mapping[str, Any], Any]


def watch_tensorboard(imports: Imports, installed: Installed, hub: Hub) -> None:
    """Listen to every SummaryWriter from the moment the script imports one."""
    for name in _WRITERS:
        imports.when(name, lambda module: _listen(module.SummaryWriter, installed, hub))


def _listen(kind: Any, installed: Installed, hub: Hub) -> None:
    writer = f"{_WRITERS[0]}:SummaryWriter"
    for name, heard in _HEARD.items():
        installed.wrap(f"{writer}.{name}", hub.beside("TensorBoard", partial(_tell, hub, heard)), kind)
    installed.wrap(f"{writer}.add_hparams", hub.beside("TensorBoard", partial(_hparams, hub)), kind)


def _tell(hub: Hub, heard: Callable[..., Heard], writer: Any, *args: Any, **kwargs: Any) -> None:
    values, step = heard(*args, **kwargs)
    if values:
        hub.log(_origin(writer), values, step)


def _origin(writer: Any) -> Origin:
    """The writer by its folder: many scripts have one for training and one for validation, with the same tags."""
    folder = str(getattr(writer, "log_dir", None) or getattr(writer, "logdir", None) or "")
    return Origin(TOOL, folder, folder)


def _hparams(hub: Hub, writer: Any, hparam_dict: Any, metric_dict: Any = None, *rest: Any, **more: Any) -> None:
    hub.target.settings(dict(hparam_dict), False)
    if metric_dict:
        hub.target.summary(dict(metric_dict))


# Each takes the arguments of its `add_` method and gives (values, step).


def _scalar(tag: str, scalar_value: Any, global_step: Any = None, *rest: Any, **more: Any) -> Heard:
    return ({}, None) if isinstance(scalar_value, str) else ({tag: scalar_value}, global_step)


def _scalars(main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, *rest: Any, **m: Any) -> Heard:
    return {f"{main_tag}/{name}": value for name, value in tag_scalar_dict.items()}, global_step


def _histogram(tag: str, values: Any, global_step: Any = None, *rest: Any, **more: Any) -> Heard:
    from stepscope.track.media import Histogram

    return ({}, None) if isinstance(values, str) else ({tag: Histogram(values)}, global_step)


def _histogram_raw(
    tag: str,
    min: Any,
    max: Any,
    num: Any,
    sum: Any,
    sum_squares: Any,
    bucket_limits: Any,
    bucket_counts: Any,
    global_step: Any = None,
    *rest: Any,
    **more: Any,
) -> Heard:
    from stepscope.track.media import Histogram

    edges, counts = pictures.edges_of(min, list(bucket_limits), list(bucket_counts))
    return {tag: Histogram(counts=counts, edges=edges)}, global_step


def _image(
    tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None, dataformats: str = "CHW", **more: Any
) -> Heard:
    return ({}, None) if isinstance(img_tensor, str) else ({tag: pictures.image(img_tensor, dataformats)}, global_step)


def _images(
    tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None, dataformats: str = "NCHW", **more: Any
) -> Heard:
    return _image(tag, img_tensor, global_step, walltime, dataformats)


def _boxes(
    tag: str,
    img_tensor: Any,
    box_tensor: Any,
    global_step: Any = None,
    walltime: Any = None,
    rescale: Any = 1,
    dataformats: str = "CHW",
    labels: Any = None,
    **more: Any,
) -> Heard:
    return {tag: pictures.boxed(img_tensor, box_tensor, dataformats, labels)}, global_step


def _text(tag: str, text_string: Any, global_step: Any = None, *rest: Any, **more: Any) -> Heard:
    from stepscope.track.media import Markdown

    return {tag: Markdown(text_string)}, global_step


def _figure(tag: str, figure: Any, global_step: Any = None, *rest: Any, **more: Any) -> Heard:
    return {tag: figure}, global_step


def _video(tag: str, vid_tensor: Any, global_step: Any = None, fps: Any = 4, *rest: Any, **more: Any) -> Heard:
    return {tag: pictures.videos(vid_tensor, fps)}, global_step


def _audio(
    tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100, *rest: Any, **more: Any
) -> Heard:
    return {tag: pictures.sound(snd_tensor, sample_rate)}, global_step


def _pr_curve(
    tag: str,
    labels: Any,
    predictions: Any,
    global_step: Any = None,
    num_thresholds: int = 127,
    weights: Any = None,
    *rest: Any,
    **more: Any,
) -> Heard:
    from stepscope.track.media import PRCurve

    if weights is not None:  # ours counts every sample once
        return {}, None
    truth, scores = pictures.array(labels).reshape(-1), pictures.array(predictions).reshape(-1)
    return {tag: PRCurve(truth.astype(int), scores)}, global_step


def _pr_curve_raw(
    tag: str,
    true_positive_counts: Any,
    false_positive_counts: Any,
    true_negative_counts: Any,
    false_negative_counts: Any,
    precision: Any,
    recall: Any,
    global_step: Any = None,
    *rest: Any,
    **more: Any,
) -> Heard:
    from stepscope.track.media import Table

    columns = {
        "true positives": true_positive_counts,
        "false positives": false_positive_counts,
        "true negatives": true_negative_counts,
        "false negatives": false_negative_counts,
        "precision": precision,
        "recall": recall,
    }
    return {tag: Table({name: pictures.array(each).reshape(-1) for name, each in columns.items()})}, global_step


def _embedding(
    mat: Any,
    metadata: Any = None,
    label_img: Any = None,
    global_step: Any = None,
    tag: str = "default",
    *r: Any,
    **m: Any,
) -> Heard:
    return {f"embedding/{tag}": pictures.embedding(mat, metadata, label_img, m.get("metadata_header"))}, global_step


_HEARD: dict[str, Callable[..., Heard]] = {
    "add_scalar": _scalar,
    "add_scalars": _scalars,
    "add_histogram": _histogram,
    "add_histogram_raw": _histogram_raw,
    "add_image": _image,
    "add_images": _images,
    "add_image_with_boxes": _boxes,
    "add_figure": _figure,
    "add_video": _video,
    "add_audio": _audio,
    "add_text": _text,
    "add_pr_curve": _pr_curve,
    "add_pr_curve_raw": _pr_curve_raw,
    "add_embedding": _embedding,
}
