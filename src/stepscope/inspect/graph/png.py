"""A drawing as PNG, with Pillow: no browser, no Graphviz."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from stepscope.errors import MissingExtra, UsageError
from stepscope.inspect.graph.palette import DARK, LIGHT
from stepscope.inspect.graph.scene import Curve, Rect, Scene, Text

if TYPE_CHECKING:
    from stepscope.inspect.graph.layout import Point

_SMOOTH = 2
"""Lines are drawn at this many times their size and then downscaled, for anti-aliasing."""
MOST_PIXELS = 120_000_000


def png(scene: Scene, scale: float = 2.0, theme: str = "light") -> bytes:
    """The scene as PNG bytes; `scale` is the number of pixels for one unit of the drawing."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra("saving a graph as PNG", "pillow") from None
    width, height = round(scene.width * scale), round(scene.height * scale)
    if width * height > MOST_PIXELS:
        raise UsageError(
            f"the image would be {width:,} by {height:,} pixels; choose a smaller scale or depth, or save an SVG"
        )
    smooth = _SMOOTH if width * height * _SMOOTH**2 <= MOST_PIXELS else 1
    painter = _Painter(scene, scale * smooth, DARK if theme == "dark" else LIGHT)
    picture = painter.picture()
    if smooth > 1:
        picture = picture.resize((width, height), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=False)
    return out.getvalue()


class _Painter:
    def __init__(self, scene: Scene, scale: float, colours: dict[str, str]) -> None:
        from PIL import Image, ImageDraw

        self.scene, self.scale, self.colours = scene, scale, colours
        size = (max(1, round(scene.width * scale)), max(1, round(scene.height * scale)))
        self._picture = Image.new("RGB", size, colours["page"])
        self._draw = ImageDraw.Draw(self._picture)
        self._fonts: dict[tuple[float, bool], Any] = {}

    def picture(self) -> Any:
        for shape in self.scene.shapes:
            if isinstance(shape, Rect):
                self._rect(shape)
            elif isinstance(shape, Text):
                self._text(shape)
            else:
                self._curve(shape)
        return self._picture

    def _rect(self, rect: Rect) -> None:
        s = self.scale
        corners = (rect.x * s, rect.y * s, (rect.x + rect.width) * s, (rect.y + rect.height) * s)
        self._draw.rounded_rectangle(
            corners, rect.radius * s, self.colours[rect.fill], self.colours[rect.line], max(1, round(s))
        )

    def _text(self, text: Text) -> None:
        font = self._font(text.size, text.bold)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
        s = self.scale
        rim: dict[str, Any] = {}
        if text.halo:
            rim = {"stroke_width": round(1.5 * s), "stroke_fill": self.colours[text.halo]}
        words = "".join(char for char in text.text if char >= " ").replace("×", "x")  # which that font lacks
        colour = self.colours[text.colour]
        self._draw.text((text.x * s, text.y * s), words, colour, font, anchor, **rim)
        if text.bold:  # the font that comes with Pillow has no bold face
            self._draw.text(((text.x + 0.35) * s, text.y * s), words, colour, font, anchor)

    def _font(self, size: float, bold: bool) -> Any:
        from PIL import ImageFont

        key = (size, bold)
        if key not in self._fonts:
            try:
                self._fonts[key] = ImageFont.load_default(size * self.scale)
            except TypeError:  # an old Pillow, whose one font has one size
                raise MissingExtra("saving a graph as PNG", "'pillow>=10.1'") from None
        return self._fonts[key]

    def _curve(self, curve: Curve) -> None:
        s = self.scale
        points = [(x * s, y * s) for x, y in flatten(curve)]
        self._draw.line(points, self.colours["wire"], max(1, round(1.3 * s)), joint="curve")
        if curve.arrow:
            x, y = points[-1]
            sign = -1 if points[-2][1] > y else 1
            tip = [(x - 3.8 * s, y - sign * s), (x + 3.8 * s, y - sign * s), (x, y + 5.5 * sign * s)]
            self._draw.polygon(tip, self.colours["arrow"])


def flatten(curve: Curve, steps: int = 14) -> list[Point]:
    """The curve as points close enough to look smooth."""
    points = [curve.start]
    for piece in curve.pieces:
        if len(piece) == 1:
            points.append(piece[0])
            continue
        (x0, y0), ((x1, y1), (x2, y2), (x3, y3)) = points[-1], piece
        for step in range(1, steps + 1):
            t = step / steps
            u = 1 - t
            a, b, c, d = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
            points.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
    return points
