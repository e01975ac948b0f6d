"""A drawing as SVG: one file, readable in light and dark, with item details in tooltips."""

from __future__ import annotations

from html import escape

from stepscope.inspect.graph.palette import DARK, LIGHT
from stepscope.inspect.graph.scene import Curve, Rect, Scene, Text

_FONT = "Inter,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif"


def svg(scene: Scene, theme: str = "auto") -> str:
    """The scene as an SVG document. `theme`: light, dark, or auto, which follows the reader's system."""
    size = f"{_n(scene.width)} {_n(scene.height)}"
    width, height = size.split()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width}" height="{height}" '
        f'font-family="{_FONT}" role="img">',
        f"<style>{_style(scene, theme)}</style>",
        f'<rect width="{width}" height="{height}" class="f-page"/>',
    ]
    for shape in scene.shapes:
        if isinstance(shape, Rect):
            parts.append(_rect(shape))
        elif isinstance(shape, Text):
            parts.append(_text(shape))
        else:
            parts.append(_curve(shape))
    return "\n".join([*parts, "</svg>\n"])


def _style(scene: Scene, theme: str) -> str:
    used = {"page", "wire", "arrow"}
    for shape in scene.shapes:
        if isinstance(shape, Rect):
            used |= {shape.fill, shape.line}
        elif isinstance(shape, Text):
            used |= {shape.colour, shape.halo} - {""}
    names = sorted(used)
    rules = [f".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}" for name in names]
    first, other = (DARK, LIGHT) if theme == "dark" else (LIGHT, DARK)
    rules.append(_variables(names, first))
    if theme == "auto":
        rules.append(f"@media (prefers-color-scheme:dark){{{_variables(names, other)}}}")
    rules.append(
        ".w{fill:none;stroke:var(--wire);stroke-width:1.3}.a{fill:var(--arrow)}.b{font-weight:600}"
        ".d{stroke-dasharray:3 2.5}.h{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}"
        ".m{text-anchor:middle}.e{text-anchor:end}g:hover>.w{stroke:var(--arrow);stroke-width:2.4}"
    )
    return "".join(rules)


def _variables(names: list[str], theme: dict[str, str]) -> str:
    return "svg{" + "".join(f"--{name}:{theme[name]};" for name in names) + "}"


def _rect(rect: Rect) -> str:
    look = f"f-{rect.fill} s-{rect.line}{' d' if rect.dashed else ''}"
    at = f'x="{_n(rect.x)}" y="{_n(rect.y)}" width="{_n(rect.width)}" height="{_n(rect.height)}"'
    return _with_tip(f'<rect {at} rx="{_n(rect.radius)}" class="{look}"', "rect", rect.tip)


def _text(text: Text) -> str:
    anchor = {"start": "", "middle": " m", "end": " e"}[text.anchor]
    look = f"f-{text.colour}{' b' if text.bold else ''}{anchor}{f' h s-{text.halo}' if text.halo else ''}"
    at = f'x="{_n(text.x)}" y="{_n(text.y)}" font-size="{_n(text.size)}"'
    return f'<text {at} class="{look}" pointer-events="none">{_safe(text.text)}</text>'


def _curve(curve: Curve) -> str:
    path = [f"M{_n(curve.start[0])} {_n(curve.start[1])}"]
    before = curve.start
    for piece in curve.pieces:
        before = piece[-1] if len(piece) == 1 else piece[-2]
        path.append(("L" if len(piece) == 1 else "C") + " ".join(f"{_n(x)} {_n(y)}" for x, y in piece))
    shapes = _with_tip(f'<path d="{"".join(path)}" class="w"', "path", curve.tip)
    if curve.arrow:
        x, y = curve.pieces[-1][-1]
        origin = curve.start if len(curve.pieces) == 1 and len(curve.pieces[-1]) == 1 else before
        sign = -1 if origin[1] > y else 1
        shapes += f'<path d="M{_n(x - 3.8)} {_n(y - sign)}h7.6l-3.8 {_n(6.5 * sign)}z" class="a"/>'
    return f"<g>{shapes}</g>"


def _with_tip(start: str, tag: str, tip: str) -> str:
    return f"{start}><title>{_safe(tip)}</title></{tag}>" if tip else f"{start}/>"


def _safe(text: str) -> str:
    """Text that is inert in XML: markup escaped, invalid characters removed."""
    allowed = "".join(char for char in text if char in "\n\t" or (char >= " " and not "\ud800" <= char <= "\udfff"))
    return escape(allowed.replace("\ufffe", "").replace("\uffff", ""))


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
