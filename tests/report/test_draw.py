"""Charts drawn for Markdown: whatever the numbers and names, a well-formed picture with the right places."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from stepscope.report.draw_axes import PALETTE, nice_ticks, scale_for
from stepscope.report.draw_bars import draw_bars
from stepscope.report.draw_lines import DrawnLine, draw_lines
from stepscope.report.draw_points import DrawnPoint, draw_points
from stepscope.report.draw_ridges import draw_ridges

HOSTILE = "</title><script>alert(1)</script>\x1b[31m\u202e&'\""
NUMBERS = st.floats() | st.none()


def line(x: list[float], value: list[float | None], **more: object) -> DrawnLine:
    return DrawnLine(name="a", hue=0, x=x, value=value, **more)  # type: ignore[arg-type]


def paths(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each line, from the legend's end on."""
    found = re.findall(r'<path class="l h\d+" d="M([^"]+)"', svg)
    return [[(float(x), float(y)) for x, y in (point.split() for point in path.split("L"))] for path in found]


@given(st.lists(st.tuples(st.integers(-(2**53), 2**53), NUMBERS), max_size=30), st.booleans(), st.text(max_size=20))
def test_any_numbers_make_a_picture(points: list[tuple[int, float | None]], log: bool, name: str) -> None:
    points.sort(key=lambda point: point[0])
    x, values = [float(at) for at, _ in points], [value for _, value in points]
    drawn = DrawnLine(name=name, hue=3, x=x, value=values, low=values, high=values, faint=values, bad=x)
    svg = draw_lines([drawn], name, log=log)
    ElementTree.fromstring(svg)
    assert "nan" not in re.sub(r">[^<]*<", "><", svg).lower()
    for path in paths(svg):
        assert all(0 <= at <= 800 and -100 <= up <= 1000 for at, up in path)


def test_places_are_in_proportion() -> None:
    (path,) = paths(draw_lines([line([0, 50, 100], [0.0, 5.0, 10.0])], "t"))
    (left, low), (middle, half), (right, high) = path
    assert middle == pytest.approx((left + right) / 2, abs=0.1)
    assert half == pytest.approx((low + high) / 2, abs=0.1)
    assert low > high  # up is less


def test_a_logarithmic_axis_gives_each_tenfold_the_same_room_and_skips_zero() -> None:
    first, second = paths(draw_lines([line([0, 1, 2, 3, 4], [1.0, 10.0, 0.0, 100.0, 1000.0])], "t", log=True))
    assert first[0][1] - first[1][1] == pytest.approx(second[0][1] - second[1][1], abs=0.2)


def test_a_gap_divides_the_line_and_its_place_is_marked() -> None:
    svg = draw_lines([line([0, 1, 2, 3, 4], [1.0, 2.0, math.nan, 2.0, 1.0], bad=[2.0])], "t")
    assert [len(path) for path in paths(svg)] == [2, 2]
    assert svg.count("not finite") == 1


def test_thousands_of_marks_do_not_run_into_each_other() -> None:
    x = [float(at) for at in range(5000)]
    assert draw_lines([line(x, [None] * 5000, bad=x)], "t").count("not finite") < 90


def test_ranges_limit_the_picture() -> None:
    svg = draw_lines([line([0, 1, 2], [0.0, 1.0, 100.0])], "t", x_range=(0, 1), y_range=(0, 2))
    words = [node.text for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]
    assert "2" in words
    assert "100" not in words


def test_names_cannot_become_markup() -> None:
    drawn = DrawnLine(name=HOSTILE, hue=0, x=[0.0, 1.0], value=[1.0, 2.0])
    for svg in (
        draw_lines([drawn], HOSTILE, x_words=HOSTILE),
        draw_bars([(HOSTILE, 0, 1.0)], HOSTILE),
        draw_ridges([0], [0, 1], [[1]], HOSTILE),
        draw_points([DrawnPoint(HOSTILE, 0, 1.0, 2.0)], HOSTILE, x_words=HOSTILE, y_words=HOSTILE),
    ):
        root = ElementTree.fromstring(svg)
        assert not [node for node in root.iter() if node.tag.endswith("script")]
        assert "\x1b" not in svg
        assert "\u202e" not in svg


def test_points_stand_in_proportion_and_those_without_a_place_are_left_out() -> None:
    points = [DrawnPoint("a", 0, x, y) for x, y in ((1, 0.0), (10, 5.0), (100, 10.0), (0, 1.0), (5, math.nan))]
    svg = draw_points(points, "t", x_words="x", y_words="y", log_x=True)
    places = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)]
    (left, low), (middle, half), (right, high) = places
    assert middle == pytest.approx((left + right) / 2, abs=0.1)
    assert half == pytest.approx((low + high) / 2, abs=0.1)


def test_bars_are_as_long_as_their_values() -> None:
    svg = draw_bars([("a", 0, 2.0), ("b", 1, 4.0), ("c", 2, None), ("d", 3, math.inf), ("e", 4, -2.0)], "t")
    wide = [float(one) for one in re.findall(r'<rect class="f\d+"[^>]* width="([\d.]+)"', svg)]
    assert wide[1] == pytest.approx(2 * wide[0], abs=0.2)
    assert wide[4] == pytest.approx(wide[0], abs=0.2)
    assert wide[2] == wide[3] == 1.0


def test_empty_charts_are_pictures_too() -> None:
    for svg in (draw_lines([], "t"), draw_bars([], "t"), draw_ridges([], [], [], "t")):
        ElementTree.fromstring(svg)


def test_of_many_steps_some_ridges_are_drawn_the_last_among_them() -> None:
    svg = draw_ridges(list(range(1000)), [0, 1, 2], [[1, 2]] * 1000, "t")
    assert svg.count('class="l h0"') <= 30
    assert ">999<" in svg


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(2, 10))
def test_ticks_are_few_rising_and_inside(low: float, span: float, about: int) -> None:
    ticks = nice_ticks(low, low + span, about)
    assert len(ticks) <= 50
    assert ticks == sorted(ticks)
    assert all(low - span * 1e-6 <= tick <= low + span * (1 + 1e-6) for tick in ticks[:1] + ticks[-1:])


def test_one_value_still_has_a_scale() -> None:
    assert scale_for([5.0], 0, 100).place(5.0) == 50
    assert scale_for([], 0, 100, log=True).place(1.0) == pytest.approx(50, abs=1)


def test_the_palette_is_the_apps(request: pytest.FixtureRequest) -> None:
    source = (request.config.rootpath / "web" / "src" / "lib" / "colour.ts").read_text()
    assert re.findall(r'light: "(#\w+)", dark: "(#\w+)"', source)[: len(PALETTE)] == PALETTE
