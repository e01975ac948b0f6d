"""What a self-contained report carries: the true numbers, within its budget, and nothing that is nobody's business."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
import struct
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.errors import NotFound
from stepscope.records import Finding, FindingEvent, Media, Related
from stepscope.report import store as kept
from stepscope.report.page import page
from stepscope.report.text import cut
from stepscope.views.context import Context
from stepscope.views.report.blocks import bind
from stepscope.views.report.file import ReportFileRequest, made_page, made_zip, report_file
from stepscope.views.report.pack import pack_report
from stepscope.views.report.reports import SaveReportRequest, save_report

from .conftest import histogram, write_run

TEMPLATE = """<!doctype html><html><head><title>Report</title></head><body>
<script type="application/octet-stream" id="report-pack" data-encoding="json"></script><script>go()</script>
</body></html>"""
SECRETS = {
    "host": "secret-host-17",
    "user": "secret-user-17",
    "cwd": "/home/secret-folder-17/vae",
    "env": {"TOKEN_NAME": "secret-env-17"},
    "script": "/home/secret-folder-17/vae/train.py",
    "command": ["python", "train.py", "--key", "secret-argument-17"],
}


@pytest.fixture(autouse=True)
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with a place for the data, in the place of the built viewer."""
    static = tmp_path / "static"
    static.mkdir()
    (static / "report-viewer.html").write_text(TEMPLATE)
    monkeypatch.setenv("STEPSCOPE_STATIC", str(static))
    return static / "report-viewer.html"


def unpacked(html: bytes) -> dict[str, Any]:
    """What the browser reads: the slot's text, by its encoding."""
    match = re.search(
        rb'<script type="application/octet-stream" id="report-pack" data-encoding="([\w-]+)">(.*?)</script>', html
    )
    assert match is not None
    data = zlib.decompress(base64.b64decode(match[2])) if match[1] == b"deflate-base64" else match[2]
    found: dict[str, Any] = json.loads(data)
    return found


def made(ctx: Context, text: str, budget: int = 5_000_000) -> dict[str, Any]:
    return unpacked(made_page(ctx, bind(ctx, cut(text)), most=budget).data)


def panel(kind: str, lines: str = "") -> str:
    return f"```stepscope {kind}\n{lines}\n```\n"


def x_of(line: dict[str, Any]) -> list[float]:
    if "x" in line:
        found: list[float] = line["x"]
        return found
    return [line["x0"], *(line["x0"] + np.cumsum(line["dx"])).tolist()]


def png(seed: int, side: int = 8) -> bytes:
    """A real PNG of noise, which does not compress."""
    rows = np.random.default_rng(seed).integers(0, 256, (side, side * 3), dtype=np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def image(key: str, step: int, side: int = 8) -> tuple[Media, bytes]:
    data = png(step, side)
    about = Media(
        key=key, step=step, time=float(step), kind="image", mime="image/png", sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
    )  # fmt: skip
    return about, data


def test_lines_carry_every_point_when_there_are_few(store: Path, ctx: Context) -> None:
    values = [3.0, 2.5, math.nan, math.inf, -math.inf, 1.25]
    run = write_run(store, "a", {"loss": values})
    (line,) = made(ctx, panel("chart", f"key: loss\nruns: {run}"))["lines"]
    assert (line["run"], line["key"], line["axis"], line["points"]) == (run, "loss", "step", 6)
    assert x_of(line) == [0, 1, 2, 3, 4, 5]
    assert line["value"] == [3.0, 2.5, None, None, None, 1.25]
    assert line["nan"] == [2]
    assert sorted(line["inf"]) == [-5, 3]
    assert len(line["relative"]) == 6
    assert "low" not in line


def test_long_lines_keep_their_spikes(store: Path, ctx: Context) -> None:
    values = np.sin(np.arange(50_000) / 700)
    values[12_345] = 9.0
    write_run(store, "a", {"loss": values.tolist()})
    (line,) = made(ctx, panel("chart", "key: loss\nruns: a\nsmooth: ema:0.9"))["lines"]
    assert len(line["value"]) == 2000
    assert max(line["high"]) == 9.0
    assert min(line["low"]) == pytest.approx(-1, abs=1e-6)
    at = line["high"].index(9.0)
    assert abs(x_of(line)[at] - 12_345) < 25
    by_hand = [values[i * 25 : (i + 1) * 25].mean() for i in (0, 1000, 1999)]
    assert [line["value"][i] for i in (0, 1000, 1999)] == pytest.approx(by_hand, rel=1e-6)
    assert len(line["smoothed"]["ema:0.9"]) == 2000


def test_many_long_lines_get_coarser_until_they_fit_and_the_file_says_so(store: Path, ctx: Context) -> None:
    noise = np.random.default_rng(0)
    write_run(store, "a", {f"m{number}": noise.normal(size=4000).tolist() for number in range(6)})
    keys = json.dumps([f"m{number}" for number in range(6)])
    text = panel("chart", f"key: {keys}\nruns: a")
    whole = made_page(ctx, bind(ctx, cut(text)))
    small = made_page(ctx, bind(ctx, cut(text)), most=80_000)
    assert len(whole.data) > 140_000
    assert len(small.data) < 85_000
    assert whole.left_out == []
    assert len(small.left_out) == 1
    assert re.fullmatch(r"To keep this file small, 6 lines have \d+ positions each; .*", small.left_out[0])
    assert {len(line["value"]) for line in unpacked(whole.data)["lines"]} == {4000}
    assert unpacked(small.data)["left_out"] == small.left_out


def test_media_come_as_data_at_steps_that_are_spread(store: Path, ctx: Context) -> None:
    run = write_run(store, "a", media=[image("samples", step) for step in range(0, 400, 10)])
    found = made(ctx, panel("image", "key: samples\nruns: a\nmost_steps: 5\nstep: 101"))
    (media,) = found["media"]
    assert media["run"] == run
    assert 100 in media["steps"]
    assert {0, 390} <= set(media["steps"])
    assert len(media["steps"]) == 5
    for item in media["items"]:
        url = item["url"]
        if url.startswith("/api/blob/"):
            url = found["blobs"][url.removeprefix("/api/blob/")]
        assert base64.b64decode(url.partition(",")[2]) == png(item["step"])
    assert found["left_out"] == ["samples of a: 5 of 40 steps are in this file."]


def test_media_stop_at_the_budget_and_every_run_has_its_newest(store: Path, ctx: Context) -> None:
    for name in ("a", "b"):
        write_run(store, name, media=[image("samples", step, 100) for step in range(10)])
    found = made_page(ctx, bind(ctx, cut(panel("image", "key: samples\nruns: a, b"))), most=300_000)
    assert len(found.data) < 310_000
    packed = unpacked(found.data)["media"]
    assert [one["steps"][-1] for one in packed] == [9, 9]
    assert any("of 10 steps are in this file" in sentence for sentence in found.left_out)


def _finding() -> FindingEvent:
    finding = Finding(
        rule="opt.no-zero-grad",
        severity="error",
        message="gradients pile up",
        file="/home/secret-folder-17/vae/sub/train.py",
        line=3,
        source=[(3, "loss.backward()")],
        related=[Related(file="/home/secret-folder-17/elsewhere/lib.py", line=7, label="made here")],
    )
    return FindingEvent(time=time.time(), finding=finding)


def test_nothing_of_the_machine_or_of_other_reports_is_in_the_file(store: Path, ctx: Context) -> None:
    save_report(ctx, SaveReportRequest(text="# secret-other-report-17"))
    media = [image("samples", 1), histogram("w", 0, [0, 1, 2], [1, 2])]
    for name in ("a", "b"):
        write_run(
            store, name, {"loss": [3, 2]}, media, [_finding()], notes="secret-notes-17", config={"lr": 1}, **SECRETS
        )
    write_run(store, "secret-other-run-17", {"loss": [1]})
    parts = [
        panel("chart", "key: loss"),
        panel("chart", "key: loss\ngroup: lr"),
        panel("table"),
        panel("bars", "key: loss"),
        panel("metrics"),
        panel("diff"),
        panel("changed"),
        panel("finding"),
        panel("image", "key: samples"),
        panel("distribution", "key: w"),
        panel("parallel"),
        panel("importance"),
        panel("scatter", "x: config.lr\ny: loss.last"),
        panel("chart", "key: loss\nruns: gone"),
        panel("chart", "key: nope"),
    ]
    text = "---\nruns: a, b\n---\n" + "".join(parts)
    packed = made(ctx, text)
    words = json.dumps(packed, ensure_ascii=False)
    assert packed["answers"] and packed["media"] and packed["lines"]  # noqa: PT018
    assert re.findall(r"[^\"]{0,60}secret-[a-z-]+-17", words) == []
    assert str(store) not in words
    with zipfile.ZipFile(io.BytesIO(made_zip(bind(ctx, cut(text))))) as archive:
        for name in archive.namelist():
            content = archive.read(name).decode("utf-8", "replace")
            assert re.findall(r"secret-[a-z-]+-17", content) == [], name
            assert str(store) not in content


def test_what_it_carries_cannot_become_markup(store: Path, ctx: Context) -> None:
    hostile = "</script><script>alert(1)</script>\u2028<!--"
    write_run(store, hostile, {hostile: [1, 2]}, project=hostile)
    text = f"# {hostile}\n\n" + panel("chart", f"key: {json.dumps(hostile)}\nquery: created > 0")
    html = made_page(ctx, bind(ctx, cut(text))).data.decode()
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    assert "alert(1)</script>" not in html
    assert unpacked(html.encode())["lines"][0]["key"] == hostile
    small = page({"title": hostile}, hostile).decode()
    assert 'data-encoding="json"' in small
    assert small.count("</script>") == 2
    assert "\u2028" not in small.partition("report-pack")[2]
    assert unpacked(small.encode()) == {"title": hostile}


def test_answers_name_only_the_fields_that_matter(store: Path, ctx: Context) -> None:
    run = write_run(store, "a", {"loss": [3, 2]}, config={"lr": 1})
    packed = made(ctx, panel("table", f"runs: {run}\ncolumns: config.lr, loss.min\nsort: loss.min"))
    (answer,) = packed["answers"]
    assert answer["route"] == "POST /api/runs"
    assert answer["request"] == {
        "runs": [run],
        "columns": ["config.lr", "loss.min"],
        "sort": "loss.min",
        "descending": True,
    }
    assert answer["answer"]["rows"][0]["cells"] == [1, 2]


def test_a_report_is_downloaded_as_page_zip_and_text(store: Path, ctx: Context) -> None:
    write_run(store, "a", {"loss": [3, 2]})
    text = "# My report\n\n" + panel("chart", "key: loss\nruns: a")
    saved = save_report(ctx, SaveReportRequest(text=text))
    html = report_file(ctx, ReportFileRequest(id=saved.id))
    assert html.filename == "my-report.html"
    assert unpacked(html.body or b"")["title"] == "My report"
    whole = report_file(ctx, ReportFileRequest(id=saved.id, format="zip"))
    with zipfile.ZipFile(io.BytesIO(whole.body or b"")) as archive:
        assert archive.namelist() == ["report.md", "images/loss.svg"]
        assert "![Chart of loss](images/loss.svg)" in archive.read("report.md").decode()
    assert whole.body == report_file(ctx, ReportFileRequest(id=saved.id, format="zip")).body
    assert report_file(ctx, ReportFileRequest(id=saved.id, format="md")).body == text.encode()


def test_without_the_viewer_the_error_says_what_to_do(store: Path, ctx: Context, template: Path) -> None:
    template.unlink()
    with pytest.raises(NotFound, match=r"report viewer is not built.*make setup"):
        made_page(ctx, bind(ctx, cut("x")))
    template.write_text("<html></html>")
    with pytest.raises(NotFound, match="has no place for the report's data"):
        made_page(ctx, bind(ctx, cut("x")))


def test_a_typical_report_is_small_and_quick(store: Path, ctx: Context) -> None:
    noise = np.random.default_rng(0)
    for number in range(3):
        curve = np.exp(-np.arange(4000) / 1000) + noise.normal(0, 0.02, 4000)
        media = [image("samples", step, 64) for step in range(0, 4000, 500)]
        write_run(
            store, f"run {number}", {f"train/m{at}": curve.tolist() for at in range(5)}, media, config={"lr": number}
        )
    parts = [panel("chart", f"key: train/m{at}\nsmooth: ema:0.6") for at in range(5)]
    text = "---\nquery: created > 0\n---\n" + "".join(parts) + panel("table") + panel("image", "key: samples")
    before = time.process_time()
    found = made_page(ctx, bind(ctx, cut(text)))
    assert time.process_time() - before < 20
    assert len(found.data) < 5_000_000
    assert min(len(line["value"]) for line in unpacked(found.data)["lines"]) >= 500


def test_a_pack_says_which_version_and_who(store: Path, ctx: Context) -> None:
    found, _ = kept.save([store], "---\nauthor: Ada\n---\n", "r")
    pack = pack_report(ctx, bind(ctx, cut(kept.read(found.version()))), 3, "Ada", 10_000)
    assert (pack.format, pack.version, pack.author, pack.title) == (1, 3, "Ada", "Untitled report")


def test_groups_are_carried_as_their_mean_and_band(store: Path, ctx: Context) -> None:
    for value, lr in ((1.0, 0.1), (3.0, 0.1), (5.0, 0.2)):
        write_run(store, f"{value}", {"loss": [value, value * 2]}, config={"lr": lr})
    packed = made(ctx, panel("band", "key: loss\ngroup: lr\nquery: created > 0"))
    by_size = {len(line["group"]): line for line in packed["lines"]}
    assert (by_size[2]["value"], by_size[2]["low"], by_size[2]["high"]) == ([2, 4], [1, 2], [3, 6])
    assert by_size[1]["value"] == [5, 10]
    assert [one["route"] for one in packed["answers"]] == ["POST /api/compare/columns"]


def test_a_smoothed_group_is_carried_with_both_of_its_bands(store: Path, ctx: Context) -> None:
    for value in (1.0, 3.0):
        write_run(store, f"{value}", {"loss": [value, value * 2]}, config={"lr": 0.1})
    (line,) = made(ctx, panel("band", "key: loss\ngroup: lr\nsmooth: mean:3\nquery: created > 0"))["lines"]
    assert (line["value"], line["low"], line["high"]) == ([2, 4], [1, 2], [3, 6])
    assert line["smoothed"] == {"mean:3": [3, 3]}
    assert line["bands"] == {"mean:3": [[1.5, 1.5], [4.5, 4.5]]}


def test_a_table_holds_as_many_runs_as_a_panel_may_have(store: Path, ctx: Context) -> None:
    for number in range(70):
        write_run(store, f"run {number}", {"loss": [float(number)]}, config={"lr": number})
    report = bind(ctx, cut("---\nquery: created > 0\nmost: 200\n---\n" + panel("table") + panel("bars", "key: loss")))
    found = made_page(ctx, report)
    assert found.faults == []
    rows = [len(one["answer"]["rows"]) for one in unpacked(found.data)["answers"] if "rows" in one["answer"]]
    assert rows == [70, 70, 70][: len(rows)]
