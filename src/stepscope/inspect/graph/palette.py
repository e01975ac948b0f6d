"""Every color of a drawing, in the light and the dark theme; the same grays as the app's."""

from __future__ import annotations

HEAT_STEPS = 10
CATEGORIES = 8

LIGHT = {
    "page": "#ffffff", "text": "#17181c", "text-2": "#55575f", "text-3": "#74767f",
    "wire": "#a9abb6", "arrow": "#8b8d99",
    "badge": "#4257d6", "badge-text": "#ffffff", "bad": "#fbd5d4", "bad-line": "#c4302f",
    "box": "#f7f7fa", "box-2": "#ffffff", "box-line": "#d9d9e0",
    "weights": "#e4ebfd", "weights-line": "#9fb4ee", "attention": "#efe5fb", "attention-line": "#c3a4ea",
    "norm": "#e2f3e8", "norm-line": "#9dd0b1", "activation": "#fdf1d6", "activation-line": "#e3c178",
    "pool": "#dff2f4", "pool-line": "#95cbd2", "loss": "#fde4ea", "loss-line": "#ecaabb",
    "arithmetic": "#f1f1f4", "arithmetic-line": "#c6c7d0", "shape": "#fbfbfc", "shape-line": "#d4d4da",
    "tensor": "#ffffff", "tensor-line": "#74767f", "group": "#eceef6", "group-line": "#b9bfd6",
    "heat-low": "#fbfbfc", "heat-high": "#e8702a", "heat-line": "#cfcfd6", "none": "#f6f6f8", "none-line": "#dedee4",
}  # fmt: skip
DARK = {
    "page": "#121316", "text": "#ececef", "text-2": "#a9abb4", "text-3": "#868994",
    "wire": "#5b5e69", "arrow": "#7b7e8a",
    "badge": "#8a9bff", "badge-text": "#0f1116", "bad": "#4a2022", "bad-line": "#ff7a78",
    "box": "#17181c", "box-2": "#1d1f24", "box-line": "#34363e",
    "weights": "#202a49", "weights-line": "#45589b", "attention": "#2e2345", "attention-line": "#6a4d9c",
    "norm": "#1a3125", "norm-line": "#3b6d50", "activation": "#382e17", "activation-line": "#7d6531",
    "pool": "#183236", "pool-line": "#3a6d74", "loss": "#3d1f29", "loss-line": "#87475a",
    "arithmetic": "#24262c", "arithmetic-line": "#474a54", "shape": "#1a1b20", "shape-line": "#383b43",
    "tensor": "#121316", "tensor-line": "#868994", "group": "#23263a", "group-line": "#4b5172",
    "heat-low": "#1f2025", "heat-high": "#d9641f", "heat-line": "#45474f", "none": "#1b1c21", "none-line": "#2c2e35",
}  # fmt: skip
_CATEGORY_LIGHT = ["#e4ebfd", "#fdf1d6", "#e2f3e8", "#fde4ea", "#efe5fb", "#dff2f4", "#f6e9dd", "#eceef6"]
_CATEGORY_DARK = ["#202a49", "#382e17", "#1a3125", "#3d1f29", "#2e2345", "#183236", "#35291f", "#23263a"]


def mix(low: str, high: str, share: float) -> str:
    """A color between two others.

    >>> mix("#000000", "#ff8040", 0.5)
    '#804020'
    """
    pairs = ((int(low[at : at + 2], 16), int(high[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


for _theme, _categories in ((LIGHT, _CATEGORY_LIGHT), (DARK, _CATEGORY_DARK)):
    for _step in range(HEAT_STEPS):
        _share = _step / (HEAT_STEPS - 1)
        _theme[f"heat{_step}"] = mix(_theme["heat-low"], _theme["heat-high"], 0.85 * _share)
        _theme[f"heat{_step}-line"] = mix(_theme["heat-line"], _theme["heat-high"], _share)
    for _step, _colour in enumerate(_categories):
        _theme[f"kind{_step}"] = _colour
        _theme[f"kind{_step}-line"] = mix(_colour, _theme["text-3"], 0.45)
