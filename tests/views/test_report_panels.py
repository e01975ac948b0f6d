"""The kinds of panels: the same on both sides, written about, and each one drawn in Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stepscope.records import Console, Finding, FindingEvent, Media
from stepscope.report.text import cut, panel_text
from stepscope.runs.write.writer import RunWriter
from stepscope.views.context import Context
from stepscope.views.report.blocks import bind
from stepscope.views.report.panel import all_panels
from stepscope.views.report.pictures import Pictures, write_markdown

from .conftest import histogram, write_run

ROOT = Path(__file__).parents[2]


def test_both_sides_have_the_same_kinds() -> None:
    drawn = {path.stem for path in (ROOT / "web" / "src" / "panels").glob("*.tsx")}
    assert drawn == set(all_panels())


@pytest.mark.parametrize("kind", sorted(all_panels()))
def test_every_kind_and_option_is_written_about(kind: str) -> None:
    page = (ROOT / "docs" / "reports.md").read_text()
    (section,) = re.findall(rf"^### `{kind}`\n(.*?)(?=^##)", page + "\n##", re.MULTILINE | re.DOTALL)
    known = all_panels()[kind].options.__struct_fields__
    own = [name for name in known if name not in ("runs", "query", "most", "title", "caption", "height")]
    assert [name for name in own if not re.search(rf"`{name}[`:]", section)] == []


@pytest.fixture
def two(store: Path) -> None:
    finding = Finding(
        rule="opt.no-zero-grad", severity="error", message="`a` piles up", fix="call `b`", source=[(3, "x = 1")], line=3
    )
    text = Media(key="samples/text", step=1, time=1.0, kind="text", mime="text/plain", size=9, data=b"a ``` b|c")
    for name, lr in (("first", 0.1), ("sec|ond", 0.2)):
        write_run(
            store,
            name,
            {"loss": [3, 2, lr], "val/acc": [0, 0.5, 0.9]},
            [histogram("w", 0, [0, 1, 2], [1, 2]), histogram("w", 5, [0, 1, 2], [2, 1]), (text, b"a ``` b|c")],
            [FindingEvent(time=1.0, finding=finding)],
            config={"lr": lr, "depth": 3},
        )
    run = write_run(store, "talks", end=None)
    writer = RunWriter(store / run, run_id=run, heartbeat_s=0, fsync_s=0)
    writer.console(Console(time=1.0, stream="stdout", text="hello\nworld\n"))
    writer.close()


def written(ctx: Context, kind: str, **options: object) -> Pictures:
    text = "---\nruns: first, sec|ond\n---\n" + panel_text(kind, dict(options))
    report = bind(ctx, cut(text))
    assert [problem.text for problem in report.problems] == []
    return write_markdown(report)


def numbers(svg: bytes) -> list[str]:
    """The words of a drawing, which must be well-formed."""
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]


def test_a_chart_is_a_picture_with_axes_and_a_legend(two: None, ctx: Context) -> None:
    made = written(ctx, "chart", key="loss", title="Loss <b>")
    assert "![Chart of loss](images/loss-b.svg)" in made.text
    words = numbers(made.files["images/loss-b.svg"])
    assert {"Loss <b>", "first", "sec|ond", "step", "0", "1", "2"} <= set(words)


def test_a_band_is_one_line_for_each_group(two: None, ctx: Context) -> None:
    made = written(ctx, "band", key="loss", group="lr")
    (picture,) = made.files.values()
    assert [word for word in numbers(picture) if "0.1" in word or "0.2" in word] != []
    assert picture.count(b'class="l h') == 4  # two lines, and two in the legend


def test_bars_show_one_value_of_each_run(two: None, ctx: Context) -> None:
    (picture,) = written(ctx, "bars", key="val/acc", stat="max").files.values()
    assert {"first", "sec|ond", "0.9", "val/acc (max)"} <= set(numbers(picture))


def test_a_table_marks_the_best_and_escapes_names(two: None, ctx: Context) -> None:
    made = written(ctx, "table", columns="config.lr, loss.min", sort="loss.min", descending=False)
    lines = made.text.strip().splitlines()[-4:]
    assert lines == [
        "| run | status | lr | loss.min |",
        "| --- | --- | ---: | ---: |",
        "| first | finished | 0.1 | **0.1** |",
        r"| sec\|ond | finished | 0.2 | 0.2 |",
    ]


def test_metrics_and_config_stand_side_by_side(two: None, ctx: Context) -> None:
    made = written(ctx, "metrics", keys="loss", baseline="first").text
    assert r"| metric | first | sec\|ond |" in made
    assert "**0.1**" in made
    assert r"| lr | 0.1 | 0.2 |" in written(ctx, "diff").text
    assert "depth" not in written(ctx, "diff").text


def test_what_changed_is_told(two: None, ctx: Context) -> None:
    assert "| lr | 0.1 | 0.2 |" in written(ctx, "changed").text.replace("| likely ", "").replace("| possible ", "")


def test_findings_carry_their_source_and_cure(two: None, ctx: Context) -> None:
    made = written(ctx, "finding", severity="error").text
    assert "**`a` piles up** `opt.no-zero-grad`" in made
    assert "```python\n    3  x = 1\n```" in made
    assert "Fix: call `b`" in made


def test_texts_and_the_console_stand_in_fences_they_cannot_leave(two: None, ctx: Context) -> None:
    assert "````text\na ``` b|c\n````" in written(ctx, "media", key="samples/text").text
    assert "```text\nhello\nworld\n```" in written(ctx, "console", lines=5, runs="talks").text
    assert "hello" not in written(ctx, "console", lines=1, runs="talks").text


def test_distributions_are_ridges(two: None, ctx: Context) -> None:
    made = written(ctx, "distribution", key="w")
    assert len(made.files) == 2
    assert "w · first" in numbers(next(iter(made.files.values())))


def test_parameters_are_a_table(two: None, ctx: Context) -> None:
    assert "| run |" in written(ctx, "parallel").text
    assert "| first |" in written(ctx, "scatter").text
    few = written(ctx, "importance").text
    assert "over 2 runs. Too few runs for a model" in few
    assert "| lr |" in few
    (picture,) = written(ctx, "scatter", x="config.lr", y="loss.min").files.values()
    assert picture.count(b"<circle") == 2
    assert {"lr", "loss.min"} <= set(numbers(picture))


def test_a_note_is_markdown_that_stands_out(ctx: Context) -> None:
    report = bind(ctx, cut(panel_text("note", {"text": "**Use** this", "tone": "good"})))
    assert write_markdown(report).text.endswith("> [!TIP]\n> **Use** this\n")


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (
            "table",
            '{"columns": ["a", "b"], "rows": [[1, "x|y"], [2]]}',
            "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n| 2 |  |",
        ),
        ("confusion", '{"counts": [[5, 1], [0, 4]], "labels": ["cat"]}', "| cat | 5 | 1 |\n| 1 | 0 | 4 |"),
        ("curve", '{"x": [0, 1, null], "y": [0, 1, 2]}', "![Curve"),
        ("curve", '{"curves": {"cat": {"x": [0, 1], "y": [0, 1]}}}', "![Curve"),
        ("table", '{"columns": "nope"}', '```text\n{"columns": "nope"}\n```'),
        ("confusion", '{"counts": [[1], [2, 3]]}', "```text"),
        ("curve", '{"x": [1e400, true], "y": [1, 2]}', "```text"),
        ("curve", "[" * 5000, "```text"),
        ("table", '{"columns": [], "rows": []}', "```text"),
    ],
)
def test_logged_tables_matrices_and_curves_become_markdown(
    store: Path, ctx: Context, kind: str, content: str, expected: str
) -> None:
    data = content.encode()
    item = Media(key="eval/x", step=1, time=1.0, kind=kind, mime="application/json", size=len(data), data=data)
    write_run(store, "a", media=[(item, data)])
    report = bind(ctx, cut(panel_text("media", {"key": "eval/x", "runs": "a"})))
    assert report.problems == []
    assert expected in write_markdown(report).text


def test_runs_with_one_hue_keep_it_and_are_told_apart_by_a_dash_in_every_picture(
    two: None, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = {"first": 1, "sec|ond": 1}
    own = {entry.id: alike.get(entry.name, 0) for entry in ctx.catalogue.every()}
    monkeypatch.setattr("stepscope.views.report.pictures.hues_of", lambda *_: own)
    (chart,) = written(ctx, "chart", key="loss").files.values()
    (bars,) = written(ctx, "bars", key="val/acc", stat="max").files.values()
    assert set(re.findall(rb'class="l h(\d+)"', chart)) == {b"1", b"9"}
    assert set(re.findall(rb'class="f(\d+)"', bars)) == {b"1", b"9"}
