"""Do viewers with the token get their answers while strangers flood the server? All on loopback, about a minute.

    python bench/flood.py [--connections 10000] [--streams 500] [--readers 200] [--seconds 10]

One process serves a small store. Another opens connections that send half a request, then streams that a token admits,
then requests whose answers are never read. Meanwhile viewers ask for the list of runs, on new connections and on kept
ones; their latencies are printed for each flood, beside those of a quiet server. Needs a limit of open files above the
number of connections (`ulimit -n`).
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import multiprocessing
import os
import resource
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TOKEN = "flood-bench-token-0123456789"
ADMITTED = f"Host: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()


def _serve(folder: str, pipe: object) -> None:
    from stepscope.server.serve import running
    from stepscope.server.settings import Settings

    with running([folder], Settings(token=TOKEN)) as server:
        pipe.send(server.url)  # type: ignore[attr-defined]
        pipe.recv()  # type: ignore[attr-defined]


@contextmanager
def served() -> Iterator[int]:
    """A server in a process of its own, over a few runs; its port."""
    import stepscope

    with tempfile.TemporaryDirectory() as folder:
        for number in range(20):
            run = stepscope.init(dir=folder, name=f"run {number}", system=False, console=False, git=False)
            for step in range(200):
                run.log({"loss": 1 / (step + 1)})
            run.finish()
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        process = multiprocessing.get_context("spawn").Process(target=_serve, args=(folder, theirs), daemon=True)
        process.start()
        yield int(ours.recv().rpartition(":")[2])
        ours.send("stop")
        process.join(20)


def _connected(port: int, count: int, message: bytes, window: int = 0) -> list[socket.socket]:
    made = []
    for _ in range(count):
        one = socket.socket()
        one.settimeout(5)
        if window:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        with contextlib.suppress(OSError):
            one.connect(("127.0.0.1", port))
            one.sendall(message)
            made.append(one)
    return made


def half_sent(port: int, count: int) -> list[socket.socket]:
    return _connected(port, count, b"GET /api/info HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")


def streams(port: int, count: int) -> list[socket.socket]:
    return _connected(port, count, b"GET /api/live HTTP/1.1\r\n" + ADMITTED)


def never_read(port: int, count: int) -> list[socket.socket]:
    """The largest file of the app asked for three times on each connection, and nothing read."""
    from stepscope.server.settings import Settings

    static = Settings().static
    largest = max((path for path in static.rglob("*.js")), key=lambda path: path.stat().st_size, default=None)
    target = f"/{largest.relative_to(static).as_posix()}" if largest else "/api/info"
    return _connected(port, count, (f"GET {target} HTTP/1.1\r\n".encode() + ADMITTED) * 3, window=4096)


def _attack(port: int, kind: str, count: int, go: object, done: object) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard > 0 else soft, hard))
    os.nice(40)  # an attacker elsewhere would not take this machine's processor
    flood: Callable[[int, int], list[socket.socket]] = globals()[kind]
    held = flood(port, count)
    go.set()  # type: ignore[attr-defined]
    while kind == "half_sent" and not done.is_set():  # type: ignore[attr-defined]
        for one in held:
            one.close()
        held = flood(port, count)
    done.wait()  # type: ignore[attr-defined]


def latencies(port: int, seconds: float, viewers: int = 4) -> tuple[list[float], int]:
    """What viewers wait for the list of runs, in ms, and how many requests failed."""
    waited: list[float] = []
    failed = [0]
    end = time.monotonic() + seconds
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "x-stepscope": "1"}

    def view(keep: bool) -> None:
        kept = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while time.monotonic() < end:
            connection = kept if keep else http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            began = time.perf_counter()
            try:
                connection.request("POST", "/api/runs", b"{}", headers)
                answer = connection.getresponse()
                answer.read()
                failed[0] += answer.status != 200
            except (OSError, http.client.HTTPException):
                failed[0] += 1
            waited.append((time.perf_counter() - began) * 1000)
            if not keep:
                connection.close()
            time.sleep(0.05)
        kept.close()

    threads = [threading.Thread(target=view, args=(number % 2 == 0,)) for number in range(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(waited), failed[0]


def measured(port: int, name: str, kind: str | None, count: int, seconds: float) -> bool:
    context = multiprocessing.get_context("spawn")
    go, done = context.Event(), context.Event()
    attacker = None
    if kind is not None:
        attacker = context.Process(target=_attack, args=(port, kind, count, go, done), daemon=True)
        attacker.start()
        go.wait(60 if kind != "half_sent" else 2)  # half-sent ones are measured while they arrive
        time.sleep(0 if kind == "half_sent" else 3)  # the others once they stand
    waited, failed = latencies(port, seconds)
    done.set()
    if attacker is not None:
        attacker.kill()
        attacker.join()
    middle, late = waited[len(waited) // 2], waited[int(len(waited) * 0.99)]
    figures = f"p50 {middle:5.0f} ms, p99 {late:5.0f} ms, worst {waited[-1]:5.0f} ms"
    print(f"{name:32} {len(waited):5} requests, {failed} failed, {figures}", flush=True)
    return failed == 0 and late < 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with served() as port:
        good = [
            measured(port, "nobody else", None, 0, options.seconds),
            measured(
                port, f"{options.connections:,} half-sent requests", "half_sent", options.connections, options.seconds
            ),
            measured(port, f"{options.streams} streams with the token", "streams", options.streams, options.seconds),
            measured(
                port, f"{options.readers} clients that read nothing", "never_read", options.readers, options.seconds
            ),
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
