"""A team's server at size: a catalogue of a million runs in PostgreSQL, and ingest beside viewers.

    python bench/team.py catalogue [--runs 1000000]      pages listed, filtered and sorted by SQL (goal: under 100 ms)
    python bench/team.py ingest [--seconds 30] [--viewers 100] [--clients 2] [--rate 11] [--workers 2]
                                                         what viewers wait while so many M points a minute come in;
                                                         --rate 0: as many as come
    python bench/team.py peers [--clients 2]             the same points to MLflow on PostgreSQL and to Aim's server

Needs PostgreSQL (`initdb`, `pg_ctl` on the PATH). The rows of the catalogue are made in the database itself.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import multiprocessing
import os
import random
import statistics
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

QUESTIONS: dict[str, dict[str, Any]] = {
    "the newest": {},
    "page 2,000": {"offset": 100_000},
    "by a metric": {"sort": "loss.min", "descending": False},
    "by a config value": {"sort": "config.lr"},
    "by name": {"sort": "name", "descending": False},
    "status = failed": {"query": "status = failed"},
    "config.lr < 0.001 (1 in 1,000)": {"query": "config.lr < 0.001"},
    "loss.min < 0.00001 (1 in 100,000)": {"query": "loss.min < 0.00001"},
    "config and metric, by the metric": {"query": "config.lr < 0.5 and loss.min < 0.1", "sort": "loss.min"},
    "tag = best (1 in 1,000)": {"query": "tags = best"},
    "name ~ run-99999*": {"query": "name ~ run-99999*"},
    "the word n-12345": {"query": "n-12345"},
    "name ~ 77 (too short for a trigram)": {"query": "name ~ 77"},
    "project, not failed, by a metric": {"query": "project = p7 and status != failed", "sort": "acc.max"},
    "finds nothing": {"query": "config.lr > 2"},
}


def fill(url: str, runs: int) -> float:
    """So many runs with two config values, a tag for some, and three metrics each; the seconds it took."""
    import msgspec
    import psycopg

    from stepscope.runs.catalogue.entry import Head
    from stepscope.runs.catalogue.metric_stats import pack_stats
    from stepscope.runs.points.summary import MetricSummary

    head = Head(
        id="0" * 26, name="run", project="p", status="finished", created=1.0, ended=2.0, duration_s=1.0, tags=[],
        notes="", group=None, host="gpu-7", user="ann", commit=None, branch=None, config={"lr": 0.1, "opt": "adam"},
        summary={}, main="loss", spark=[0.5] * 40, findings=0, dropped=0, version=1,
    )  # fmt: skip
    names = ("loss", "acc", "lr")
    values = {
        "head": msgspec.msgpack.encode(head),
        "names": msgspec.msgpack.encode(names),
        "stats": pack_stats([MetricSummary() for _ in names]),
        "runs": runs,
    }
    began = time.perf_counter()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP INDEX IF EXISTS ix_runs_name_trigrams, ix_runs_words_trigrams")
        for table, columns in _INDEXES.items():
            for column in columns:
                connection.execute(f"DROP INDEX ix_{table}_{_LEADS[table]}_{column}_run".encode())
        connection.execute(_RUNS, values)
        for field, kind, number, text in _VALUES:
            connection.execute(_VALUE.format(field=field, kind=kind, number=number, text=text).encode(), {"runs": runs})
        connection.execute(_TAGS)
        for name in names:
            connection.execute(_METRIC, {"name": name, "runs": runs})
        for table, columns in _INDEXES.items():
            lead = _LEADS[table]
            for column in columns:
                made = f'CREATE INDEX ix_{table}_{lead}_{column}_run ON {table} ({lead}, "{column}", run)'
                connection.execute(made.encode())
        for column in ("(coalesce(name_lower, name))", "words"):
            name = "words" if column == "words" else "name"
            connection.execute(
                f"CREATE INDEX ix_runs_{name}_trigrams ON runs USING gin ({column} gin_trgm_ops)".encode()
            )
        connection.execute("VACUUM (ANALYZE)")  # as PostgreSQL does by itself, some time after so many rows
    return time.perf_counter() - began


_INDEXES = {"run_values": ("number", "natural"), "run_metrics": ("last", "min", "max")}
_LEADS = {"run_values": "field", "run_metrics": "name"}
_RUNS = """
INSERT INTO runs (key, store, folder, stamp, id, name, project, status, created, ended, duration, findings, dropped,
                  archived, words, config, head, names, stats)
SELECT n, 's', 'f' || n, '=1', lpad(n::text, 26, '0'), 'run-' || n, 'p' || n %% 20,
       CASE WHEN n %% 10 = 0 THEN 'failed' ELSE 'finished' END, 1.7e9 + n, 1.7e9 + n + 60, 60, 0, 0, FALSE,
       'run-' || n || chr(1) || 'p' || n %% 20, '{"opt": "adam"}', %(head)s, %(names)s, %(stats)s
FROM generate_series(1::bigint, %(runs)s) n"""
_VALUE = """
INSERT INTO run_values (run, field, place, kind, number, text, lower, "natural")
SELECT n, '{field}', 0, '{kind}', {number}, {text}, NULL, CASE WHEN '{kind}' = 't' THEN {text} END
FROM generate_series(1::bigint, %(runs)s) n"""
_VALUES = (
    ("config:lr", "n", "(n * 7919 %% 1000003) / 1000003.0", "(n * 7919 %% 1000003)::text"),
    ("config:opt", "t", "NULL", "'adam'"),
    ("run:name", "t", "NULL", "'run-' || lpad(n::text, 8, '0')"),
)
_TAGS = """
INSERT INTO run_values (run, field, place, kind, text)
SELECT key, 'run:tags', place, CASE place WHEN 0 THEN 'l' ELSE 't' END, 'best'
FROM runs, generate_series(0, 1) place WHERE key % 1000 = 0"""
_METRIC = """
INSERT INTO run_metrics (run, name, last, first, min, max, mean, count, nan, inf, last_step)
SELECT n, %(name)s, v, 1, v, v + 0.1, v, 1000, 0, 0, 1000
FROM (SELECT n, ((n * 104729) %% 1000003) / 1000003.0 AS v FROM generate_series(1::bigint, %(runs)s) n) made"""


def catalogue(runs: int, repeats: int) -> None:
    from tests.postgres import Postgres

    from stepscope.database.engine import open_database
    from stepscope.database.migrate import migrate
    from stepscope.runs.catalogue.selection import Selection
    from stepscope.server.run_pages import RunPages

    postgres = Postgres()
    try:
        with open_database(postgres.new_database()) as database:
            migrate(database)
            print(f"{runs:,} runs in the database after {fill(database.url, runs):.0f} s", flush=True)
            pages = RunPages(database)
            print(f"| a page of 50 | found | median of {repeats} | 95th percentile | worst |\n|---|---|---|---|---|")
            for name, asked in QUESTIONS.items():
                waited, page = [], None
                for _ in range(repeats):
                    began = time.perf_counter()
                    page = pages.page(
                        Selection(**{key: asked[key] for key in asked if key != "offset"}), asked.get("offset", 0)
                    )
                    waited.append(1000 * (time.perf_counter() - began))
                assert page is not None
                found = f"{page.matched:,}" if page.exact else f"about {page.matched:,}"
                p95 = sorted(waited)[math.ceil(0.95 * len(waited)) - 1]
                times = " | ".join(f"{ms:.0f} ms" for ms in (statistics.median(waited), p95, max(waited)))
                print(f"| {name} | {found} | {times} |", flush=True)
    finally:
        postgres.close()


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
    parser.add_argument("what", choices=["catalogue", "ingest", "peers"])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rate", type=float, default=11.0)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    work: Callable[[], None] = {
        "catalogue": lambda: catalogue(asked.runs, asked.repeats),
        "ingest": lambda: ingest(asked.seconds, asked.viewers, asked.clients, asked.rate, asked.workers),
        "peers": lambda: peers(asked.clients),
    }[asked.what]
    work()


if __name__ == "__main__":
    main()
