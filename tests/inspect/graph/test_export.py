from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from stepscope.errors import MissingExtra, NotFound, StorageError, UsageError
from stepscope.inspect.graph import Graph, graph_of, page as page_module
from stepscope.records.step import Cost, Site, Stats, StepRecord

from .steps import Writer, transformer

HOSTILE = (
    "</title></script><script>alert(1)</script><img src=x onerror=alert(1)> \"quoted\" 'too' & \\N \x1b[31m\x00 ]]> {%"
)
TEMPLATE = """<!doctype html><html><head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'" /><title>Graph</title></head><body>
<script type="application/json" id="graph-data"></script><script id="graph-script">show(1)</script></body></html>"""


@pytest.fixture
def hostile() -> StepRecord:
    step = Writer()
    step.sites = [Site(file=HOSTILE, line=1, text=HOSTILE)]
    with step.module("", HOSTILE), step.module(HOSTILE, HOSTILE):
        x = step.op(HOSTILE, step.input(2, 4), args={HOSTILE: HOSTILE})
        step.op("relu", x, step.parameter(HOSTILE, 3), error=HOSTILE)
        step.op("split", x, outputs=(step.tensor((1,), dtype=HOSTILE, device=HOSTILE), step.tensor((5,))))
        step.op("add", x)
    return step.record()


@pytest.fixture
def viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the built viewer."""
    path = tmp_path / "graph-viewer.html"
    path.write_text(TEMPLATE)
    monkeypatch.setattr(page_module, "viewer_path", lambda: path)
    return path


def test_svg_is_well_formed_and_says_what_and_where() -> None:
    root = ET.fromstring(graph_of(transformer(3)).svg())
    words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "scaled_dot_product_attention" in words
    assert "2×4" in words
    assert "×3" in words
    tips = [tip.text or "" for tip in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any("net.py:7 y = self.layer(x)" in tip for tip in tips)
    assert "prefers-color-scheme:dark" in graph_of(transformer(3)).svg()
    assert "prefers-color-scheme" not in graph_of(transformer(3)).svg(theme="dark")


@pytest.mark.parametrize("options", [{}, {"depth": 9, "parameters": True}, {"color": "dtype"}])
def test_hostile_names_stay_text(hostile: StepRecord, options: dict[str, object], viewer: Path) -> None:
    graph = graph_of(hostile, **options)  # type: ignore[arg-type]
    svg = graph.svg()
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
    assert tags <= {"svg", "style", "rect", "text", "path", "g", "title"}
    assert "<script" not in svg
    html = graph.html()
    assert re.findall(r"<script[^>]*>", html) == [
        '<script type="application/json" id="graph-data">',
        '<script id="graph-script">',
    ]
    assert "<img" not in html
    assert "\x1b" not in graph.dot()
    assert graph.png(scale=0.5)


def test_html_carries_the_data_and_allows_only_its_own_script(hostile: StepRecord, viewer: Path) -> None:
    graph = graph_of(hostile)
    html = graph.html()
    data = re.search(r'id="graph-data">(.*?)</script>', html, re.DOTALL)
    assert data is not None
    assert json.loads(data[1]) == json.loads(graph.json())
    policies = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert len(policies) == 1
    digest = base64.b64encode(hashlib.sha256(b"show(1)").digest()).decode()
    assert policies[0].startswith(f"default-src 'none'; script-src 'sha256-{digest}'; ")


def test_html_shows_the_colour_and_the_weights_that_were_asked_for(viewer: Path) -> None:
    html = graph_of(transformer(2), color="memory", parameters=True).html()
    assert '"color":"memory","parameters":true' in html
    assert '"color":null,"parameters":false' in graph_of(transformer(2)).html()
    with pytest.raises(UsageError, match="cannot color by 'heat'; choose one of kind, time"):
        graph_of(transformer(2), color="heat")  # type: ignore[arg-type]


def test_html_opens_the_boxes_that_were_asked_for(viewer: Path) -> None:
    def opened(graph: Graph) -> list[str]:
        found = re.search(r'id="graph-data">(.*?)</script>', graph.html(), re.DOTALL)
        assert found is not None
        return [box["label"] for box in json.loads(found[1])["boxes"] if box.get("open")]

    record = transformer(2)
    assert opened(graph_of(record, depth=1)) == ["Net"]
    assert opened(graph_of(record, depth=2)) == ["Net", "h.0", "h.1"]


def test_the_real_viewer_has_the_place_for_the_data() -> None:
    if not page_module.viewer_path().exists():
        pytest.skip("the web app is not built here")
    html = graph_of(transformer(12)).html()
    assert '"model":"Net"' in html
    assert len(html) < 2_000_000


def test_without_the_viewer_one_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "viewer_path", lambda: tmp_path / "none.html")
    graph = graph_of(transformer(2))
    with pytest.raises(NotFound, match=r"not built.*make setup.*\.svg"):
        graph.save(tmp_path / "net.html")
    assert graph._repr_html_().startswith("<svg"), "a notebook still shows something"


def test_json_is_the_whole_graph(tmp_path: Path) -> None:
    graph = graph_of(transformer(2))
    saved = json.loads(graph.save(tmp_path / "net.json").read_text())
    assert len(saved["nodes"]) == len(graph.data.nodes)
    assert saved["format"] == 1


def test_dot_has_a_statement_for_each_item_and_flow(tmp_path: Path) -> None:
    text = graph_of(transformer(2), depth=1).save(tmp_path / "net.dot").read_text()
    assert text.startswith("digraph step {")
    assert text.count("{") == text.count("}") == 2, "the model is a cluster"
    statement = re.compile(r'^\s*(\w+( -> \w+)? \[(\w+=("(\\.|[^"\\])*"|\w+)(, )?)+\];|\w+="(\\.|[^"\\])*";)$')
    body = [line for line in text.splitlines()[1:] if not line.strip().startswith(("subgraph", "}"))]
    assert [line for line in body if not statement.match(line)] == []
    assert sum(" -> " in line for line in body) == 4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_png_opens_with_the_size_that_was_asked_for(theme: str) -> None:
    from PIL import Image

    graph = graph_of(transformer(3))
    one, two = (Image.open(io.BytesIO(graph.png(scale=scale, theme=theme))) for scale in (0.5, 1.0))
    assert one.format == "PNG"
    assert two.width == pytest.approx(2 * one.width, abs=2)
    pixels = one.convert("RGB")
    assert pixels.getpixel((0, 0)) == ((255, 255, 255) if theme == "light" else (18, 19, 22))
    assert len(pixels.getcolors(1 << 20) or []) > 20, "something is drawn"


def test_a_picture_too_large_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="smaller scale or depth, or save an SVG"):
        graph_of(transformer(3)).png(scale=500)


def test_without_pillow_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match="pip install pillow"):
        graph_of(transformer(2)).png()


def test_wrong_wishes_are_told_what_is_possible(tmp_path: Path) -> None:
    graph = graph_of(transformer(2))
    with pytest.raises(UsageError, match=r"'net\.jpg'.*\.html, \.svg, \.png, \.json, \.dot"):
        graph.save(tmp_path / "net.jpg")
    with pytest.raises(UsageError, match="theme is 'pink'"):
        graph.save(tmp_path / "net.svg", theme="pink")
    with pytest.raises(UsageError, match="depth is -1"):
        graph_of(transformer(2), depth=-1)
    with pytest.raises(UsageError, match="color by 'mood'; choose one of kind, time"):
        graph_of(transformer(2), color="mood").svg()  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="cannot write the graph"):
        graph.save(tmp_path / "no" / "folder.svg")


def test_colours_follow_cost_and_values() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        x = step.op("conv2d", x, cost=Cost(host_us=100.0, flops=1000, saved_bytes=64))
        step.op("log", x, cost=Cost(host_us=1.0), output_stats=(Stats(numel=8, neg_inf=1),))
    record = step.record()
    assert 'class="f-heat9 s-heat9-line"' in graph_of(record, color="time").svg()
    assert ">100 us</text>" in graph_of(record, color="time").svg()
    assert ">1,000</text>" in graph_of(record, color="flops").svg()
    assert ">64 B</text>" in graph_of(record, color="memory").svg()
    assert 'class="f-bad s-bad-line"' in graph_of(record, color="nonfinite").svg()
    assert ">cpu</text>" in graph_of(record, color="device").svg()
    assert ">nothing was measured</text>" in graph_of(transformer(2), color="time").svg()
    assert ">values were not recorded</text>" in graph_of(transformer(2), color="nonfinite").svg()


def test_show_opens_the_file_in_a_browser(viewer: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    path = graph_of(transformer(2)).show()
    assert path is not None
    assert opened == [path.as_uri()]
    assert "graph-data" in path.read_text()


def test_show_without_a_browser_says_where_the_file_is(
    viewer: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    path = graph_of(transformer(2)).show()
    assert str(path) in capsys.readouterr().err


def test_in_a_notebook_the_viewer_is_fenced_in(viewer: Path) -> None:
    html = graph_of(transformer(2))._repr_html_()
    assert 'sandbox="allow-scripts"' in html
    assert "<script" not in html


def test_an_empty_step_is_an_empty_picture() -> None:
    graph = graph_of(StepRecord())
    ET.fromstring(graph.svg())
    assert graph.png()
    assert "0 ops" in repr(graph)
