"""Alerts leave the server: to a chat, in its own words, and never at the cost of the server."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from http.client import RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stepscope.cli.main import commands
from stepscope.errors import ConfigError, StepscopeError
from stepscope.server.alert_channels import USUAL, Outlets, kinds_of
from stepscope.server.desktop import Desktop
from stepscope.server.webhook import Webhook, payload
from stepscope.views.notice import Notice

NOTICE = Notice(
    run="01JCQ4", title="vae failed", text="ValueError: <x>", level="error", kind="failed", id="1", time=5.0,
    name="vae", project="demo",
)  # fmt: skip


class Chat(ThreadingHTTPServer):
    """A chat that answers as it is told and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.got: list[tuple[str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook/secret?token=abc"


class Handler(BaseHTTPRequestHandler):
    server: Chat

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, json.loads(body)))
        status, headers = self.server.answers.pop(0) if self.server.answers else (200, {})
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def chat() -> Iterator[Chat]:
    with Chat() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_message_says_what_and_where(chat: Chat) -> None:
    assert Webhook(chat.url).send(NOTICE) is None
    [(path, sent)] = chat.got
    assert path == "/hook/secret?token=abc"
    assert sent["text"] == "🔴 vae failed: ValueError: <x>\ndemo/vae · 01JCQ4"
    assert (sent["kind"], sent["run"], sent["level"]) == ("failed", "01JCQ4", "error")


def test_a_chat_that_is_busy_is_asked_again_and_one_that_refuses_is_not(chat: Chat) -> None:
    waits: list[float] = []
    chat.answers = [(503, {}), (429, {"Retry-After": "7"}), (200, {})]
    assert Webhook(chat.url, waits.append).send(NOTICE) is None
    assert waits == [1.0, 7.0]
    chat.got.clear()
    chat.answers = [(404, {})]
    assert Webhook(chat.url, waits.append).send(NOTICE) == "127.0.0.1 answered with status 404"
    assert len(chat.got) == 1


def test_a_redirect_is_not_followed(chat: Chat) -> None:
    chat.answers = [(302, {"Location": "file:///etc/passwd"})]
    assert Webhook(chat.url).send(NOTICE) == "127.0.0.1 answered with status 302"


def test_a_dead_chat_is_given_up_and_its_address_stays_secret() -> None:
    waits: list[float] = []
    hook = Webhook("http://127.0.0.1:9/hook/secret", waits.append)
    trouble = hook.send(NOTICE)
    assert trouble == "127.0.0.1 cannot be reached: nothing listens there"
    assert len(waits) == 3
    assert "secret" not in f"{hook.name}{trouble}"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://x/y",
        "hooks.example.com/x",
        "http://",
        "http://u:p@x/",
        "http://x/ y",
        "http://[::1/x",
    ],
)
def test_only_web_addresses_are_taken(url: str) -> None:
    with pytest.raises(ConfigError):
        Webhook(url)


def test_each_service_gets_its_own_words_and_no_name_calls_a_channel() -> None:
    loud = Notice(run="r", title="<!channel> @everyone", text="\x1b[31mred\n", level="info", name="n", project="p")
    assert payload(loud, "hooks.slack.com") == {"text": "🔵 &lt;!channel&gt; @everyone: red \np/n · r"}
    discord = payload(loud, "discord.com")
    assert discord["allowed_mentions"] == {"parse": []}
    card = payload(loud, "x.webhook.office.com")["attachments"][0]["content"]
    assert [line["text"] for line in card["body"]] == ["🔵 <!channel> @everyone", "red ", "p/n"]
    assert "text" in payload(loud, "notslack.com.evil.example")


def test_a_slow_outlet_holds_up_nobody_and_only_chosen_kinds_go_out() -> None:
    held, began_sending = threading.Event(), threading.Event()
    sent: list[str] = []

    class Slow:
        name = "slow"

        def send(self, notice: Notice) -> str | None:
            sent.append(notice.title)
            began_sending.set()
            held.wait(300)
            return "no"

    outlets = Outlets([Slow()], USUAL)
    outlets.start()
    began = time.perf_counter()
    for number in range(500):
        outlets.tell([Notice(run="r", title=str(number), text="", level="info", kind="failed")])
    outlets.tell([Notice(run="r", title="dropped", text="", level="warning", kind="dropped")])
    assert time.perf_counter() - began < 100  # one message alone is held for five minutes
    assert began_sending.wait(300)
    held.set()
    outlets.stop()
    assert sent[0] == "0"
    assert "dropped" not in sent
    assert kinds_of("") == ()
    with pytest.raises(ConfigError, match="'nan' is not a kind of alert"):
        kinds_of("failed,nan")


def test_the_desktop_shows_names_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "said"
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{said}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    evil = Notice(run="r", title="--icon=x $(touch pwned)", text="<b>&", level="error", name="n", project="p")
    assert Desktop().send(evil) is None
    assert said.read_text().splitlines() == [
        "--app-name=Stepscope", "--urgency=critical", "--", "--icon=x $(touch pwned)", "&lt;b&gt;&amp;",
    ]  # fmt: skip
    program.unlink()
    with pytest.raises(ConfigError, match="notify-send"):
        Desktop()


def test_the_webhook_can_be_tried_from_the_command_line(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_WEBHOOK", chat.url)
    done = CliRunner().invoke(commands, ["ui", "--test-webhook"], catch_exceptions=False)
    assert done.output == "sent to 127.0.0.1\n"
    chat.answers = [(403, {})]
    with pytest.raises(StepscopeError, match="status 403"):
        CliRunner().invoke(commands, ["ui", "--test-webhook"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (socket.gaierror(-2, "secret"), "no machine of that name is known here"),
        (TimeoutError("secret"), "no answer within 10 seconds"),
        (ssl.SSLCertVerificationError("secret"), "its certificate is not one that this machine trusts"),
        (RemoteDisconnected("secret"), "it broke the connection off"),
        (OSError("secret"), "OSError"),
    ],
)
def test_why_a_chat_cannot_be_reached_is_said_in_words(
    fault: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_self: Webhook, _body: bytes) -> tuple[int, float]:
        raise fault

    monkeypatch.setattr(Webhook, "_post", fails)
    assert Webhook("https://x/secret", lambda _s: None).send(NOTICE) == f"x cannot be reached: {words}"
