"""The runs page of a team's server with a million runs: PostgreSQL alone, and the real server over HTTP.

    python bench/team_pages.py [--runs 1000000] [--repeats 40]     goal: a page listed, filtered, sorted under 100 ms
    python bench/team_pages.py --sql                               the SQL alone, without a server
    python bench/team_pages.py --hold                              fill, then wait for Ctrl-C; prints the next line
    python bench/team_pages.py --home FOLDER --database URL        ask what such a process holds, again and again

Needs PostgreSQL (`initdb`, `pg_ctl` on the PATH). The rows of the catalogue are made directly; each run has an empty
folder, so that the server finds all of them when it looks at its store.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "columns": ("/api/columns", {}),
    "columns of a project": ("/api/columns", {"query": "project = p7"}),
    "the menu of config.lr": ("/api/column", {"key": "config.lr"}),
    "the menu of config.opt, of failed runs": ("/api/column", {"key": "config.opt", "query": "status = failed"}),
    "groups by project": ("/api/runs", {"limit": 50, "group_by": "project", "columns": ["loss.min"]}),
}
COLUMNS = ["config.lr", "config.opt", "loss.last", "loss.min", "acc.max"]


# -- made ---------------------------------------------------------------------------------------------------------


def fill(url: str, home: Path, runs: int) -> None:
    """So many runs with two config values, a tag for some, and three metrics each, as the server would find them."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP INDEX IF EXISTS ix_runs_name_trigrams, ix_runs_words_trigrams")
        for table, columns in _INDEXES.items():
            for column in columns:
                connection.execute(f"DROP INDEX ix_{table}_{_LEADS[table]}_{column}_run".encode())
        with connection.cursor().copy(_COPY) as copy:
            for row in _rows(home, runs):
                copy.write_row(row)
        for field, kind, number, text in _VALUES:
            connection.execute(_VALUE.format(field=field, kind=kind, number=number, text=text).encode(), {"runs": runs})
        connection.execute(_TAGS)
        for name in _METRICS:
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
        connection.execute("SELECT setval('runs_key_seq', %s)", [runs])
        connection.execute("VACUUM (ANALYZE)")  # as PostgreSQL does by itself, some time after so many rows


def _rows(home: Path, runs: int) -> Iterator[tuple[Any, ...]]:
    import msgspec

    from stepscope.runs.catalogue.change_detection import folder_stamp
    from stepscope.runs.catalogue.entry import Head
    from stepscope.runs.catalogue.metric_stats import pack_stats
    from stepscope.runs.format.ids import new_run_id
    from stepscope.runs.points.summary import MetricSummary

    store, names = os.path.realpath(home), msgspec.msgpack.encode(_METRICS)
    stats = pack_stats([MetricSummary(last=0.5, min=0.25, max=0.75, count=1000) for _ in _METRICS])
    encoder = msgspec.msgpack.Encoder()
    for n in range(1, runs + 1):
        created = _FIRST + n
        id = new_run_id(created)
        name, project, tags = f"run-{n}", f"p{n % 20}", ["best"] if n % 1000 == 0 else []
        status = "failed" if n % 10 == 0 else "finished"
        lr = (n * 7919 % 1_000_003) / 1_000_003.0
        head = Head(
            id=id, name=name, project=project, status=status, created=created, ended=created + 60, duration_s=60.0,
            tags=tags, notes="", group=None, host="gpu-7", user="ann", commit=None, branch=None,
            config={"lr": lr, "opt": "adam"}, summary={}, main="loss", spark=[0.5] * 40, findings=0, dropped=0,
            version=1,
        )  # fmt: skip
        folder = os.path.join(store, id)
        os.mkdir(folder)
        words = "\1".join((name, project, *tags))
        yield (
            n, store, id, folder_stamp(os.stat(folder)), id, name, project, status, created, created + 60, 60.0, 0, 0,
            False, words, '{"opt": "adam"}', encoder.encode(head), names, stats,
        )  # fmt: skip


_FIRST = 1.7e9
_METRICS = ("loss", "acc", "lr")
_INDEXES = {"run_values": ("number", "natural"), "run_metrics": ("last", "min", "max")}
_LEADS = {"run_values": "field", "run_metrics": "name"}
_COPY = """
COPY runs (key, store, folder, stamp, id, name, project, status, created, ended, duration, findings, dropped, archived,
           words, config, head, names, stats) FROM STDIN"""
_VALUE = """
INSERT INTO run_values (run, field, place, kind, number, text, lower, "natural")
SELECT n, '{field}', 0, '{kind}', {number}, {text}, NULL, CASE WHEN '{kind}' = 't' THEN {text} END
FROM generate_series(1::bigint, %(runs)s) n"""
_VALUES = (
    ("config:lr", "n", "(n * 7919 %% 1000003) / 1000003.0", "(n * 7919 %% 1000003)::text"),
    ("config:opt", "t", "NULL", "'adam'"),
    ("run:name", "t", "NULL", "'run-' || lpad(n::text, 8, '0')"),
    ("run:project", "t", "NULL", "'p' || n %% 20"),
)
_TAGS = """
INSERT INTO run_values (run, field, place, kind, text)
SELECT key, 'run:tags', place, CASE place WHEN 0 THEN 'l' ELSE 't' END, 'best'
FROM runs, generate_series(0, 1) place WHERE key % 1000 = 0"""
_METRIC = """
INSERT INTO run_metrics (run, name, last, first, min, max, mean, count, nan, inf, last_step)
SELECT n, %(name)s, v, 1, v, v + 0.1, v, 1000, 0, 0, 1000
FROM (SELECT n, ((n * 104729) %% 1000003) / 1000003.0 AS v FROM generate_series(1::bigint, %(runs)s) n) made"""


@contextmanager
def filled(runs: int) -> Iterator[tuple[Path, str]]:
    """The folder of a server and its database, with so many runs in both."""
    from tests.postgres import Postgres
    from tests.team import people_in

    from stepscope.database.engine import open_database
    from stepscope.database.migrate import migrate

    postgres = Postgres()
    try:
        with tempfile.TemporaryDirectory() as folder:
            home, url = Path(folder) / "server", postgres.new_database()
            with open_database(url) as database:
                migrate(database)
            with people_in(home, url):
                pass
            began = time.perf_counter()
            fill(url, home, runs)
            print(f"{runs:,} runs made in {time.perf_counter() - began:.0f} s", flush=True)
            yield home, url
    finally:
        postgres.close()


# -- asked --------------------------------------------------------------------------------------------------------


def by_sql(url: str, repeats: int) -> None:
    from stepscope.database.engine import open_database
    from stepscope.runs.catalogue.selection import Selection
    from stepscope.server.run_pages import RunPages

    print(f"| the SQL of a page of 50 | found | median of {repeats} | 95th percentile | worst |\n|---|---|---|---|---|")
    with open_database(url) as database:
        pages = RunPages(database)
        for name, asked in QUESTIONS.items():
            asked = {"archived": False, **asked}
            offset = asked.pop("offset", 0)
            selection = Selection(**asked)
            pages_of = _timed(lambda: pages.page(selection, offset), repeats)  # noqa: B023
            page = pages_of[0]
            _print_row(name, f"{'' if page.exact else 'about '}{page.matched:,}", pages_of[1])


def by_http(home: Path, url: str, repeats: int) -> None:
    """Each question as the page sends it, to `stepscope server` in a process of its own."""
    from tests.ports import reserved_port

    with reserved_port() as port:
        words = ["server", str(home), "--port", str(port), "--database", url, "--json"]
        began = time.perf_counter()
        with open(home.parent / "server.err", "wb") as errors:
            server = subprocess.Popen(
                [sys.executable, "-m", "stepscope", *words], stdout=subprocess.PIPE, stderr=errors
            )
        try:
            assert server.stdout is not None
            server.stdout.readline()
            ask = _caller(port)
            first = ask("/api/runs", {"limit": 50})
            ready, cpu, memory = time.perf_counter() - began, _cpu(server.pid), _memory_mb(server.pid)
            print(f"the first page came after {ready:.1f} s ({cpu:.1f} CPU-s), of {first['total']:,} runs; {memory} MB")
            print(f"| asked over HTTP | found | median of {repeats} | 95th percentile | worst |\n|---|---|---|---|---|")
            for name, asked in QUESTIONS.items():
                page, times = _timed(lambda: ask("/api/runs", {"limit": 50, "columns": COLUMNS, **asked}), repeats)  # noqa: B023
                _print_row(name, f"{'' if page['exact'] else 'about '}{page['matched']:,}", times)
            for name, (path, body) in OTHERS.items():
                _, times = _timed(lambda: ask(path, body), repeats)  # noqa: B023
                _print_row(name, "", times)
            memory, load = _memory_mb(server.pid), os.getloadavg()[0]
            print(f"{memory} MB afterwards, {_cpu(server.pid):.0f} CPU-s in all; load {load:.0f}")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(120)


def _caller(port: int) -> Callable[[str, dict[str, Any]], Any]:
    from tests.team import TOKEN

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "x-stepscope": "1"}

    def ask(path: str, body: dict[str, Any]) -> Any:
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path} {body}: {answer.status} {data[:300]!r}")
        return json.loads(data)

    return ask


def _timed(work: Callable[[], Any], repeats: int) -> tuple[Any, list[float]]:
    """What it gives, and the milliseconds of each time; a question of many seconds is not asked so often."""
    found, times = None, []
    for _ in range(repeats):
        began = time.perf_counter()
        found = work()
        times.append(1000 * (time.perf_counter() - began))
        if sum(times) > 20_000:
            break
    return found, times


def _print_row(name: str, found: str, times: list[float]) -> None:
    p95 = sorted(times)[math.ceil(0.95 * len(times)) - 1]
    shown = " | ".join(f"{ms:.0f} ms" for ms in (statistics.median(times), p95, max(times)))
    print(f"| {name} | {found} | {shown} |", flush=True)


def _memory_mb(pid: int) -> int:
    import psutil

    return int(psutil.Process(pid).memory_info().rss / 1e6)


def _cpu(pid: int) -> float:
    import psutil

    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--sql", action="store_true", help="only the SQL")
    parser.add_argument("--hold", action="store_true", help="only fill, and wait")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--database")
    asked = parser.parse_args()

    def ask(home: Path, url: str) -> None:
        by_sql(url, asked.repeats)
        if not asked.sql:
            by_http(home, url, asked.repeats)

    if asked.home is not None:
        ask(asked.home, asked.database)
        return
    with filled(asked.runs) as (home, url):
        if asked.hold:
            print(f"--home '{home}' --database '{url}'", flush=True)
            signal.pause()
        ask(home, url)


if __name__ == "__main__":
    main()
