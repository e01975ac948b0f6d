"""Arrays as TensorBoard takes them, made into our media: its layouts, and its ranges of pixels and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.track.media import Audio, Embedding, Image


def array(value: Any) -> Any:
    """A tensor, an array or a list as a numpy array; a tensor is copied to the host, as TensorBoard has done before."""
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return value.numpy()
    return np.asarray(value)


def _pixels(value: Any) -> tuple[Any, tuple[float, float] | None]:
    """The array, and what is black and white in it: TensorBoard takes floats as 0 to 1, whatever they hold."""
    made = array(value)
    if made.dtype.kind != "f":
        return made, None
    import numpy as np

    return np.clip(made, 0.0, 1.0), (0.0, 1.0)


def image(value: Any, layout: str) -> Image:
    """One picture, or a batch as a grid."""
    from stepscope.track.media import Image

    made, limits = _pixels(value)
    return Image(made, layout=layout.upper(), value_range=limits)


def boxed(value: Any, boxes: Any, layout: str, labels: Any) -> Image:
    """A picture with boxes (left, top, right, bottom)."""
    from stepscope.track.media import Image

    made, limits = _pixels(value)
    names = list(labels) if labels is not None else []
    drawn = []
    for number, (left, top, right, bottom) in enumerate(array(boxes).reshape(-1, 4).tolist()):
        name = {"label": str(names[number])} if number < len(names) else {}
        drawn.append({"box": [left, top, right, bottom], **name})
    return Image(made, layout=layout.upper(), value_range=limits, boxes=drawn)


def videos(value: Any, fps: float) -> Any:
    """Clips (N, T, C, H, W)."""
    from stepscope.track.media import Video

    made, limits = _pixels(value)
    return [Video(clip, fps=fps, layout="TCHW", value_range=limits) for clip in made]


def sound(value: Any, rate: int) -> Audio:
    """A wave; TensorBoard cuts off what is louder than 1."""
    import numpy as np

    from stepscope.track.media import Audio

    made = array(value)
    made = np.clip(made, -1.0, 1.0) if made.dtype.kind == "f" else made
    return Audio(np.squeeze(made) if made.ndim > 1 else made, rate=int(rate))


def embedding(vectors: Any, metadata: Any, pictures: Any, header: Any) -> Embedding:
    """Vectors with their labels; several columns of labels are named by the header."""
    from stepscope.track.media import Embedding

    labels: Any = metadata
    if metadata is not None and header:
        labels = {str(name): [row[at] for row in metadata] for at, name in enumerate(header)}
    return Embedding(array(vectors), labels=labels, images=None if pictures is None else array(pictures))


def edges_of(low: Any, limits: list[Any], counts: list[Any]) -> tuple[list[float], list[float]]:
    """Edges and counts of buckets that are given by their upper limits.

    >>> edges_of(-1.0, [0.0, 1.0], [3, 4])
    ([-1.0, 0.0, 1.0], [3.0, 4.0])
    """
    from stepscope.track.media.bins import wide_bins

    upper = [float(limit) for limit in limits]
    return wide_bins([min(float(low), upper[0]), *upper], counts)
