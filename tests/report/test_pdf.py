"""PDF by a real browser, if this machine has one."""

from __future__ import annotations

import http.server
import threading
import time
from pathlib import Path

import pytest

from stepscope.errors import StorageError
from stepscope.report.pdf import NoBrowser, find_browser, print_pdf

needs_browser = pytest.mark.skipif(find_browser() is None, reason="no browser of the Chromium family here")


@needs_browser
def test_a_page_becomes_a_pdf_after_its_script_has_drawn_and_without_a_network() -> None:
    asked: list[str] = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://localhost:{server.server_port}/beacon"
        body = f"<!doctype html><p id=p></p><img src='{url}'><script>setTimeout(() => {{ p.innerHTML = "
        body += "Array(400).fill('a line of text').join('<br>') }, 1500)</script>"
        data = print_pdf(body.encode())
        server.shutdown()
        thread.join()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") >= 3
    assert asked == []


def test_no_browser_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_BROWSER", "no-such-browser")
    with pytest.raises(NoBrowser, match="looked for Chromium, Chrome, Edge and Brave"):
        print_pdf(b"x")


def test_a_browser_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "slow"
    browser.write_text("#!/bin/sh\nsleep 1000 & wait\n")
    browser.chmod(0o755)
    monkeypatch.setenv("STEPSCOPE_BROWSER", str(browser))
    before = time.monotonic()
    with pytest.raises(StorageError, match="took longer than 1 s"):
        print_pdf(b"x", timeout_s=1)
    assert time.monotonic() - before < 200


def test_a_browser_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "broken"
    browser.write_text("#!/bin/sh\necho 'no display' >&2\nexit 1\n")
    browser.chmod(0o755)
    monkeypatch.setenv("STEPSCOPE_BROWSER", str(browser))
    with pytest.raises(StorageError, match="made no PDF: no display"):
        print_pdf(b"x")
