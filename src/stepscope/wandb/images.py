"""`wandb.Image` with its boxes and masks: W&B's arguments and ranges, Stepscope's images."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope.track import media
from stepscope.track.media.arrays import is_tensor
from stepscope.track.media.boxes import corners_of
from stepscope.track.media.loggable import comes_from
from stepscope.wandb.failed_media import made
from stepscope.wandb.masks import overlaid

if TYPE_CHECKING:
    from stepscope.track.media import Loggable

_MODES = ("L", "LA", "RGB", "RGBA")


class Classes:
    """Names of classes: `wandb.Classes([{"id": 0, "name": "road"}])`."""

    def __init__(self, class_set: Sequence[Mapping[str, Any]]) -> None:
        self.names = {each["id"]: str(each["name"]) for each in class_set}


class BoundingBoxes2D:
    """Boxes of one kind ("predictions"), in pixels or in fractions of the image."""

    def __init__(self, val: Mapping[str, Any], key: str) -> None:
        self.key = key
        self.boxes = list(val.get("box_data") or ())
        self.labels = {int(number): str(name) for number, name in dict(val.get("class_labels") or {}).items()}

    def ours(self, width: int, height: int, names: Mapping[int, str], with_key: bool) -> list[dict[str, Any]]:
        return [box for each in self.boxes if (box := self._one(each, width, height, names, with_key)) is not None]

    def _one(
        self, box: Mapping[str, Any], width: int, height: int, names: Mapping[int, str], with_key: bool
    ) -> dict[str, Any] | None:
        corners = corners_of(box, width, height)
        number = box.get("class_id")
        label = box.get("box_caption") or (None if number is None else self.labels.get(number) or names.get(number))
        label = label or (None if number is None else f"class_{number}")
        if with_key:
            label = f"{self.key}: {label}" if label else self.key
        made: dict[str, Any] = {"box": corners}
        if label:
            made["label"] = label
        scores = list(dict(box.get("scores") or {}).values())
        if scores:
            made["score"] = float(scores[0])
        return made if corners[2] > corners[0] and corners[3] > corners[1] else None


class ImageMask:
    """A class number for every pixel of an image."""

    def __init__(self, val: Mapping[str, Any], key: str) -> None:
        self.key = key
        self.data = val.get("mask_data")
        self.path = val.get("path")
        self.labels = {int(number): str(name) for number, name in dict(val.get("class_labels") or {}).items()}


class Image:
    """An image: an array HW or HWC, a tensor CHW, a PIL image, a matplotlib figure or the path of a file.

    Values from 0 to 1 and from -1 to 1 are scaled, others are clipped to 0 to 255. Boxes are drawn over the image,
    masks beside it, each as a colored copy.
    """

    def __init__(
        self,
        data_or_path: Any,
        mode: str | None = None,
        caption: str | None = None,
        grouping: int | None = None,
        classes: Classes | Sequence[Mapping[str, Any]] | None = None,
        boxes: Mapping[str, Any] | None = None,
        masks: Mapping[str, Any] | None = None,
        file_type: str | None = None,
        normalize: bool = True,
    ) -> None:
        self.caption: str | None = caption
        self.format = file_type or "png"
        self._source: Any = None
        self._size: tuple[int, int] | None = None
        if isinstance(data_or_path, Image):
            self._source, self._size = data_or_path._source, data_or_path._size
            self.caption = data_or_path.caption if caption is None else caption
        parts = (data_or_path, mode, classes, boxes, masks, normalize)
        self._made: Loggable | None = made("Image", lambda: self._make(*parts))

    def _make(self, data: Any, mode: Any, classes: Any, boxes: Any, masks: Any, normalize: bool) -> Loggable:
        if self._source is None:
            self._source, self._size = _source(data, mode, normalize)
        names = classes.names if isinstance(classes, Classes) else Classes(classes).names if classes else {}
        drawn = self._boxes(boxes or {}, names)
        picture, options = self._source
        pictures: list[Loggable] = [media.Image(picture, caption=self.caption, boxes=drawn or None, **options)]
        for key, mask in (masks or {}).items():
            one = mask if isinstance(mask, ImageMask) else ImageMask(mask, key)
            pictures.append(overlaid(picture, options, one, {**names, **one.labels}, self.caption))
        return pictures[0] if len(pictures) == 1 else media.Several(pictures)

    def _boxes(self, boxes: Mapping[str, Any], names: Mapping[int, str]) -> list[dict[str, Any]]:
        width, height = self._size or (1, 1)
        found: list[dict[str, Any]] = []
        for key, given in boxes.items():
            kind = given if isinstance(given, BoundingBoxes2D) else BoundingBoxes2D(given, key)
            found += kind.ours(width, height, names, with_key=len(boxes) > 1)
        return found

    @property
    def width(self) -> int | None:
        return self._size[0] if self._size else None

    @property
    def height(self) -> int | None:
        return self._size[1] if self._size else None

    @property
    def image(self) -> Any:
        """The image as a PIL image."""
        import io

        from PIL import Image as pillow

        encoded = self._made.encode("image", 0, 0.0) if self._made is not None else []
        return pillow.open(io.BytesIO(encoded[0][1] or b"")) if encoded else None

    def _stepscope_media_(self) -> Loggable | None:
        return self._made


def _source(data: Any, mode: str | None, normalize: bool) -> tuple[Any, Any]:
    """What to create images from, with its arguments; and the size in pixels."""
    import numpy as np

    options: dict[str, Any] = {"mode": mode} if mode in _MODES else {}
    data = data.gcf() if isinstance(data, ModuleType) and hasattr(data, "gcf") else data  # pyplot itself
    if isinstance(data, str | os.PathLike):
        picture, size = _from_path(data)
        return (picture, {}), size
    if comes_from(data, "PIL", "Image"):
        return (data.copy() if mode is None else data.convert(mode), {}), tuple(data.size)
    if comes_from(data, "matplotlib", "FigureBase", "Axes") or hasattr(data, "savefig"):
        return (data, {}), None
    if is_tensor(data):
        return _from_tensor(data, options, normalize)
    array = np.asarray(data.numpy() if hasattr(data, "numpy") else data)
    if array.ndim > 2:
        array = array.squeeze()
    options["value_range"] = _range(array, normalize)
    if array.ndim not in (2, 3):
        return (array.copy(), options), None  # Stepscope's own image reports what is wrong with the shape
    options["layout"] = "HW" if array.ndim == 2 else "HWC"
    return (array.copy(), options), (array.shape[1], array.shape[0])


def _from_tensor(tensor: Any, options: dict[str, Any], normalize: bool) -> tuple[Any, Any]:
    tensor = tensor.detach()
    if tensor.device.type != "cpu":  # its range would have to be waited for; Stepscope's own rules apply later
        size = (int(tensor.shape[-1]), int(tensor.shape[-2])) if tensor.ndim >= 2 else None
        return (tensor.clone(), options), size
    array = tensor.float().numpy() if str(tensor.dtype) == "torch.bfloat16" else tensor.numpy()
    options["value_range"] = _range(array, normalize)
    if array.ndim == 3:
        options["layout"] = "CHW"
    return (tensor.clone(), options), (int(array.shape[-1]), int(array.shape[-2])) if array.ndim >= 2 else None


def _range(array: Any, normalize: bool) -> tuple[float, float] | None:
    """Which values are black and white, by W&B's rules; None if those are Stepscope's own."""
    if not array.size or array.dtype.kind not in "iuf":
        return None
    low, high = float(array.min()), float(array.max())
    if not normalize:
        return (0.0, 255.0)
    if low >= 0 and high <= 1:
        return (0.0, 1.0)
    if low >= -1 and high <= 1:
        return (-1.0, 1.0)
    return (0.0, 255.0) if low == low and high == high else None


def _from_path(path: str | os.PathLike[str]) -> tuple[Any, tuple[int, int] | None]:
    from stepscope.track.media.sniff import image_size, mime_of, read_file

    data = read_file(path, "image file", 64 << 20)
    mime = mime_of(data[:4096])
    if mime in ("image/png", "image/jpeg", "image/gif", "image/webp", "image/apng"):
        return os.fspath(path), image_size(data, mime)
    from PIL import Image as pillow

    with pillow.open(path) as opened:  # BMP, TIFF and the like
        picture = opened.convert("RGB")
    return picture, picture.size
