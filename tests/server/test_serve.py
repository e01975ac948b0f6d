"""A real server on a real socket: it starts, streams, stops, and survives rude clients (RELIABILITY 56)."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from tests.views.conftest import write_run

from stepscope.errors import ConfigError
from stepscope.server import serve
from stepscope.server.protocol import uvicorn_options
from stepscope.server.serve import Running, bind, running
from stepscope.server.settings import Settings

from .conftest import TOKEN


@pytest.fixture
def server(store: Path, settings: Settings) -> Iterator[Running]:
    quick = dataclasses.replace(settings, header_s=0.5, body_s=0.5, heartbeat_s=0.2, max_listeners=3)
    with running([store], quick) as server:
        yield server


def call(server: Running) -> int:
    return httpx.get(f"{server.url}/api/info", headers={"authorization": f"Bearer {TOKEN}"}).status_code


def connect(server: Running) -> socket.socket:
    port = int(server.url.rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), timeout=300)


def read_all(connection: socket.socket) -> bytes:
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def test_the_printed_address_opens_the_app(server: Running) -> None:
    assert server.address == f"{server.url}/?token={TOKEN}"
    with httpx.Client() as browser:
        assert browser.get(server.address).status_code == 303
        assert browser.get(f"{server.url}/api/info").status_code == 200


def test_half_sent_requests_lose_their_connection_and_disturb_nobody(server: Running) -> None:
    slow = [connect(server) for _ in range(30)]
    for connection in slow[:15]:
        connection.sendall(b"GET /api/info HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
    for connection in slow[15:]:
        connection.sendall(
            b"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + TOKEN.encode() +
            b"\r\nContent-Type: application/json\r\nX-Stepscope: 1\r\nContent-Length: 500\r\n\r\n{"
        )  # fmt: skip
    assert call(server) == 200
    deadline = time.monotonic() + 300
    for connection in slow:
        connection.settimeout(max(0.01, deadline - time.monotonic()))
        read_all(connection)  # returns when the server has closed it; a timeout would raise
        connection.close()
    assert call(server) == 200


def test_a_flood_of_silent_connections_shuts_nobody_out(store: Path, settings: Settings) -> None:
    with running([store], dataclasses.replace(settings, header_s=60)) as server:
        silent = [connect(server) for _ in range(700)]
        try:
            for connection in silent[100:]:
                with suppress(OSError):  # evicted already
                    connection.sendall(b"GET /api/info HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
            assert [call(server) for _ in range(5)] == [200] * 5
        finally:
            for connection in silent:
                connection.close()


def test_who_has_shown_the_token_is_not_pushed_out_by_strangers(store: Path, settings: Settings) -> None:
    with (
        running([store], dataclasses.replace(settings, header_s=60)) as server,
        httpx.Client(headers={"authorization": f"Bearer {TOKEN}"}, timeout=300) as viewer,
    ):
        assert viewer.get(f"{server.url}/api/info").status_code == 200
        before = viewer.get(f"{server.url}/api/info").extensions["network_stream"].get_extra_info("client_addr")
        silent = [connect(server) for _ in range(700)]
        try:
            answer = viewer.get(f"{server.url}/api/info")
            assert answer.extensions["network_stream"].get_extra_info("client_addr") == before, "the same connection"
        finally:
            for connection in silent:
                connection.close()


def test_a_refused_stranger_has_to_connect_again(server: Running) -> None:
    with httpx.Client() as stranger:
        answer = stranger.get(f"{server.url}/api/info")
    assert (answer.status_code, answer.headers["connection"]) == (401, "close")


def test_a_body_that_is_too_long_gets_a_readable_answer(server: Running) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "x-stepscope": "1"}
    for content in (b" " * (6 << 20), iter([b" " * (1 << 20)] * 6)):  # with a length, and in chunks
        answer = httpx.post(f"{server.url}/api/runs", content=content, headers=headers, timeout=300)
        assert answer.status_code == 413
        assert answer.json()["error"] == "the request is larger than 4 MiB, the most this server takes"
    assert call(server) == 200


def test_drops_do_not_buy_time(server: Running) -> None:
    def drip(connection: socket.socket) -> None:
        for letter in b"GET /api/info HTTP/1.1\r\n" + b"X-Padding: x\r\n" * 200:
            connection.sendall(bytes([letter]))
            time.sleep(0.05)

    began = time.monotonic()
    with connect(server) as connection, pytest.raises(OSError):
        drip(connection)
    assert time.monotonic() - began < 60, "half a second is allowed; the drops would take over two minutes"


def test_a_connection_may_be_used_again(server: Running) -> None:
    with httpx.Client(headers={"authorization": f"Bearer {TOKEN}"}) as client:
        for _ in range(3):
            assert client.get(f"{server.url}/api/info").status_code == 200
            time.sleep(0.3)


def test_a_flood_of_headers_is_refused(server: Running) -> None:
    with connect(server) as connection:
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-Bomb: aaaaaaaaaaaaaaaa\r\n" * 20_000)
            answer = read_all(connection)
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
    assert b" 200 " not in answer
    assert call(server) == 200


def test_a_body_without_end_is_refused_early(server: Running) -> None:
    head = (b"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + TOKEN.encode() +
            b"\r\nContent-Type: application/json\r\nX-Stepscope: 1\r\nTransfer-Encoding: chunked\r\n\r\n")  # fmt: skip
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    sent = 0
    with connect(server) as connection:
        connection.sendall(head)
        try:
            while sent < 64 << 20:
                connection.sendall(piece)
                sent += 65536
        except OSError:
            pass
    assert sent < 32 << 20, "the limit, what is thrown away after the answer, and the buffers between"
    assert call(server) == 200


RAW_PATHS = [
    "/api/blob/../../../../etc/passwd", "/api/blob/{run}/../meta.json", "/api/export/../../etc/passwd.csv",
    "/../../../../etc/passwd", "/assets/../../../../../../etc/passwd", "/..\\..\\etc\\passwd", "//etc/passwd.txt",
    "/api/../../../etc/passwd", "http://evil.example/etc/passwd", "/.%2e/.%2e/etc/passwd", "*",
]  # fmt: skip


@pytest.mark.parametrize("path", RAW_PATHS)
def test_a_path_that_no_client_tidied_leads_nowhere(server: Running, store: Path, path: str) -> None:
    run = write_run(store)
    head = f"GET {path.replace('{run}', run)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
    with connect(server) as connection:
        connection.sendall(head.encode() + b"Connection: close\r\n\r\n")
        answer = read_all(connection)
    assert answer.split(b" ", 2)[1] in (b"404", b"400")
    assert b"root:" not in answer
    assert b"demo" not in answer


def test_a_page_hears_of_a_run_that_is_written_now(server: Running, store: Path) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.stream("GET", f"{server.url}/api/live", headers=headers, timeout=300) as answer:
        events = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
        next(events)
        run = write_run(store, series={"loss": [1.0]})
        told = ((change["id"], change["status"]) for event in events for change in event["changed"])
        seen = next(one for one in told if one[1] != "running")  # a slow machine may look while it is written
    assert seen == (run, "finished")


def test_garbage_is_answered_with_400(server: Running) -> None:
    with connect(server) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00 not http\r\n\r\n")
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"x-content-type-options: nosniff" in answer.lower()


def test_a_stream_says_where_things_stand_and_stays_alive(server: Running) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.stream("GET", f"{server.url}/api/live", headers=headers, timeout=300) as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["cache-control"] == "no-store"
        lines = answer.iter_lines()
        seen = [next(lines) for _ in range(5)]
    assert seen[0] == "retry: 2000"
    first = json.loads(seen[1].removeprefix("data: "))
    assert (first["changed"], first["gone"]) == ([], [])
    assert seen[3] == ": here"


def test_streams_have_a_limit_and_free_their_place(server: Running) -> None:
    def listen(client: httpx.Client) -> AbstractContextManager[httpx.Response]:
        return client.stream("GET", f"{server.url}/api/live")

    with httpx.Client(headers={"authorization": f"Bearer {TOKEN}"}, timeout=300) as client:
        with ExitStack() as stack:
            open_streams = [stack.enter_context(listen(client)) for _ in range(4)]
            assert [stream.status_code for stream in open_streams] == [200, 200, 200, 503]
        deadline = time.monotonic() + 300
        again = 503
        while again == 503 and time.monotonic() < deadline:
            time.sleep(0.05)
            with listen(client) as stream:
                again = stream.status_code
        assert again == 200


def test_a_foreign_page_gets_no_stream(server: Running) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"}
    assert httpx.get(f"{server.url}/api/live", headers=headers).status_code == 403
    upgrade = {"upgrade": "websocket", "connection": "upgrade", "host": "evil.example", "sec-websocket-version": "13"}
    assert httpx.get(f"{server.url}/api/live", headers={**headers, **upgrade}).status_code == 403


def test_stopping_ends_open_streams(store: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """By telling them: uvicorn alone would wait for them."""
    patient = {"timeout_graceful_shutdown": None}
    monkeypatch.setattr(serve, "uvicorn_options", lambda *limits: uvicorn_options(*limits) | patient)
    ended = threading.Event()

    def listen(url: str, listening: threading.Event) -> None:
        with httpx.stream(
            "GET", f"{url}/api/live", headers={"authorization": f"Bearer {TOKEN}"}, timeout=300
        ) as answer:
            for _ in answer.iter_lines():
                listening.set()
        ended.set()

    listening = threading.Event()
    with running([store], settings) as server:
        thread = threading.Thread(target=listen, args=[server.url, listening])
        thread.start()
        assert listening.wait(300)
    assert ended.wait(300)
    thread.join()


def test_the_token_is_in_no_log(server: Running, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        httpx_log = logging.getLogger("httpx")
        httpx_log.setLevel(logging.CRITICAL)  # the caller's own log, not ours
        httpx.get(server.address)
        httpx.get(f"{server.url}/?token=wrong-{TOKEN}")
        httpx.get(f"{server.url}/api/nothing?token={TOKEN}")
        httpx_log.setLevel(logging.NOTSET)
    assert TOKEN not in "\n".join(record.getMessage() for record in caplog.records if record.name[:4] != "http")


def test_a_taken_port_is_passed_over_unless_it_was_asked_for() -> None:
    listener, url = bind("127.0.0.1", 0)
    with listener:
        port = int(url.rpartition(":")[2])
        with pytest.raises(ConfigError, match=f"cannot serve on 127.0.0.1 port {port}"):
            bind("127.0.0.1", port)


SCRIPT = """
import sys
from stepscope.server.serve import serve
serve([sys.argv[1]], port=0, say=lambda text: print(text, flush=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another matter there")
def test_ctrl_c_stops_it_without_a_traceback(store: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Stepscope is on  http://127.0.0.1:")
    address = line.split()[-1]
    with httpx.Client() as browser:
        deadline = time.monotonic() + 300
        while browser.get(address).status_code != 303:
            assert time.monotonic() < deadline
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert out.endswith("Stopped.\n")
    assert err == ""
