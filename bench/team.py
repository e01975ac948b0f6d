"""A team's server at work: ingest beside viewers, and the same work for its peers.

    python bench/team.py ingest [--seconds 30] [--viewers 100] [--clients 2] [--rate 11] [--workers 2]
                                                         what viewers wait while so many M points a minute come in;
                                                         --rate 0: as many as come
    python bench/team.py peers [--clients 2]             the same points to MLflow on PostgreSQL and to Aim's server

Needs PostgreSQL (`initdb`, `pg_ctl` on the PATH). `team_pages.py` has the pages over a million runs.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# -- ingest ---------------------------------------------------------------------------------------------------------


def send(folder: str, url: str, token: str, stop: Any, sent: Any, number: int, rate: float) -> None:
    """One machine that trains: writes runs of 200,000 points and sends them, again and again.

    At low priority, as `stepscope sync` does it; `rate` is in points a second, 0 for as many as it can.
    """
    from stepscope.records import RunMeta
    from stepscope.runs.format.ids import new_run_id
    from stepscope.runs.format.layout import create_run
    from stepscope.runs.write.writer import RunWriter
    from stepscope.sync.push import push
    from stepscope.sync.remote import Remote, Unreachable

    store = Path(folder) / f"machine-{number}"
    store.mkdir()
    names = tuple(f"metric/{at}" for at in range(20))
    dice = random.Random(number)
    rows = [tuple(dice.random() for _ in names) for _ in range(10_000)]  # the numbers are the training's work, not ours
    os.nice(10)
    due = time.monotonic()
    with Remote(url, token) as remote:
        while not stop.is_set():
            about = RunMeta(id=new_run_id(), project="p", name=f"run-{number}", created=time.time())
            run = create_run(store, about)
            writer = RunWriter(run, run_id=about.id, heartbeat_s=0, fsync_s=0)
            row = writer.keyset(names)
            for step, values in enumerate(rows):
                row.write(step, values)
            writer.close()
            try:
                if not push([run], remote).problems:
                    with sent.get_lock():
                        sent.value += 10_000 * len(names)
            except Unreachable:
                continue
            if rate:
                due = max(due + 10_000 * len(names) / rate, time.monotonic() - 1.0)
                stop.wait(max(0.0, due - time.monotonic()))


def view(port: int, token: str, stop: Any, viewers: int, out: Any) -> None:
    """Some people in a process of their own: each asks for the list, then thinks for a second."""
    waited: list[tuple[float, float]] = []
    faults: list[str] = []
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "x-stepscope": "1"}

    def one(number: int) -> None:
        dice = random.Random(number)
        time.sleep(dice.random())
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not stop.is_set():
            began = time.perf_counter()
            try:
                connection.request("POST", "/api/runs", json.dumps({"limit": 50}), headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    faults.append(str(answer.status))
            except (OSError, http.client.HTTPException) as fault:
                faults.append(type(fault).__name__)
                connection.close()
            waited.append((began, time.perf_counter() - began))
            time.sleep(dice.uniform(0.5, 1.5))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.put((waited, faults))


def ingest(seconds: float, viewers: int, clients: int, rate: float, workers: int) -> None:
    from tests.ports import reserved_port
    from tests.postgres import Postgres
    from tests.team import TOKEN, people_in

    postgres = Postgres()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, reserved_port() as port:
        home, database = Path(folder) / "server", postgres.new_database()
        with people_in(home, database):
            pass
        words = [sys.executable, "-m", "stepscope", "server", str(home), "--port", str(port), "--database", database]
        words += ["--workers", str(workers)] if workers > 1 else []
        server = subprocess.Popen([*words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert server.stdout is not None
        server.stdout.readline()
        stop, sent, out = context.Event(), context.Value("q", 0), context.Queue()
        url = f"http://127.0.0.1:{port}"
        each = rate * 1e6 / 60 / clients
        senders = [
            context.Process(target=send, args=(folder, url, TOKEN, stop, sent, at, each)) for at in range(clients)
        ]
        viewing = context.Process(target=view, args=(port, TOKEN, stop, viewers, out))
        try:
            for process in (*senders, viewing):
                process.start()
            time.sleep(5)  # until all are there
            before, began, cpu = sent.value, time.perf_counter(), _cpu(server.pid)
            time.sleep(seconds)
            points, took = sent.value - before, time.perf_counter() - began
            busy = (_cpu(server.pid) - cpu) / took
            stop.set()
            waited, faults = out.get(timeout=120)
        finally:
            stop.set()
            for process in (*senders, viewing):
                process.join(120)
            server.terminate()
            server.wait(60)
            postgres.close()
        waited = sorted(took for at, took in waited if at >= began)  # all processes share this clock
        p99 = 1000 * waited[int(0.99 * (len(waited) - 1))]
        rate_reached = 60 * points / took / 1e6
        print(
            f"{clients} machines, {viewers} viewers, {workers} processes, {took:.0f} s: {rate_reached:.1f} M points a "
            f"minute; {len(waited):,} answers, {len(faults)} faults {sorted(set(faults))}, "
            f"p50 {1000 * waited[len(waited) // 2]:.0f} ms, p99 {p99:.0f} ms; "
            f"the server used {busy:.2f} processors; load {os.getloadavg()[0]:.0f}"
        )


# -- peers ----------------------------------------------------------------------------------------------------------

STEPS = {"stepscope": 20_000, "mlflow": 1_000, "aim": 500}
"""Steps of 20 metrics that each machine logs; a slow tool gets fewer, so that all take some seconds."""


def peers(clients: int) -> None:
    """CPU time is what counts on a busy machine: of the clients, and of the server with its PostgreSQL."""
    from bench.peers import peer_python
    from tests.ports import reserved_port
    from tests.postgres import Postgres
    from tests.team import TOKEN, people_in

    wanted = {"mlflow": ["mlflow", "psycopg[binary]"], "aim": ["aim"]}
    pythons = {tool: str(peer_python(f"team-{tool}", wanted[tool])) for tool in wanted}
    pythons["stepscope"] = sys.executable
    print("| server | points | points a minute | client CPU-s per M points | server CPU-s per M points |")
    print("|---|---|---|---|---|")
    for tool, steps in STEPS.items():
        postgres = Postgres()
        with tempfile.TemporaryDirectory() as folder, reserved_port() as port:
            home, database = Path(folder) / "server", postgres.new_database()
            address = f"{'aim' if tool == 'aim' else 'http'}://127.0.0.1:{port}"
            program = str(Path(pythons[tool]).with_name(tool))
            if tool == "stepscope":
                with people_in(home, database):
                    pass
                words = ["server", str(home), "--port", str(port), "--database", database, "--json"]
            elif tool == "mlflow":
                # Four processes is what it starts with by itself.
                words = ["server", "--port", str(port), "--backend-store-uri", database]
            else:
                home.mkdir()
                subprocess.run([program, "init", "--repo", str(home), "-y"], check=True, **_SILENT)
                words = ["server", "--repo", str(home), "--port", str(port), "-y"]
            environment = {**os.environ, "STEPSCOPE_TOKEN": TOKEN}
            server = subprocess.Popen([program, *words], cwd=folder, env=environment, **_SILENT)
            try:
                _wait_for(port, server)
                command = [pythons[tool], str(ROOT / "bench" / "team_client.py"), tool, address]
                subprocess.run([*command, "50"], env=environment, check=True, **_SILENT)  # all its processes are up
                before = _cpu(server.pid, postgres.pid)
                logging = [
                    subprocess.Popen(
                        [*command, str(steps)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                    )
                    for _ in range(clients)
                ]
                told = [json.loads(one.communicate(timeout=600)[0].splitlines()[-1]) for one in logging]
                spent = _cpu(server.pid, postgres.pid) - before
            finally:
                server.terminate()
                server.wait(60)
                postgres.close()
        points = clients * steps * 20
        wall, cpu = max(one["wall_s"] for one in told), sum(one["cpu_s"] for one in told)
        print(
            f"| {tool} | {points:,} | {60 * points / wall / 1e6:.2f} M | {1e6 * cpu / points:.1f} | "
            f"{1e6 * spent / points:.1f} |",
            flush=True,
        )


_SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _cpu(*processes: int) -> float:
    """CPU seconds of processes and of all that they started, those that have ended included."""
    import psutil

    total = 0.0
    for pid in processes:
        one = psutil.Process(pid)
        for process in (one, *one.children(recursive=True)):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    import socket

    for _ in range(1200):
        assert server.poll() is None, "the server ended"
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the server does not listen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["ingest", "peers"])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rate", type=float, default=11.0)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    work: Callable[[], None] = {
        "ingest": lambda: ingest(asked.seconds, asked.viewers, asked.clients, asked.rate, asked.workers),
        "peers": lambda: peers(asked.clients),
    }[asked.what]
    work()


if __name__ == "__main__":
    main()
