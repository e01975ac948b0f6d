"""The built viewer: one file whose policy names its own script and style, and asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from stepscope.report.page import page, viewer_path

built = pytest.mark.skipif(not viewer_path().exists(), reason="the viewer is not built; run `make setup`")


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@built
def test_the_policy_of_a_page_allows_its_own_script_and_nothing_else() -> None:
    html = page({"format": 1, "title": "x" * 2000}, "<b>Title</b>").decode()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert len(scripts) == len(styles) == 1
    assert f"script-src {hash_of(scripts[0])};" in policy
    assert hash_of(styles[0]) in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"\b(https?|wss?):", policy)
    assert "<title>&lt;b&gt;Title&lt;/b&gt;</title>" in html
    assert html.count('id="report-pack"') == 1


@built
def test_the_page_names_no_other_file() -> None:
    html = page({"format": 1}, "t").decode()
    outside = re.sub(r"<(script|style)\b[^>]*>.*?</\1>", "", html, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)\s*=", outside)
    assert len(html) < 900_000
