"""Does every run that exists get an answer while many look and many write? 50 viewers, 20 writers, one server.

    python bench/load.py [--viewers 50] [--writers 20] [--seconds 20]

Writers are processes that begin a run, note its id, log, end it and begin the next. Viewers ask for runs that were
noted, by the pages a browser asks for, and for the list. An answer of 404 for a run that exists is a fault; the exit
status is 1 if there was one, or any other failure.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from flood import TOKEN, _serve

HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "x-stepscope": "1"}
PAGES = ("/api/run", "/api/console", "/api/findings", "/api/series", "/api/runs")


def write(folder: str, noted: str, stop: Any) -> None:
    """Runs one after the other; an id is noted when `init` has returned, so the run exists."""
    import stepscope

    while not stop.is_set():
        run = stepscope.init(dir=folder, system=False, console=False, git=False)
        with open(noted, "a") as file:
            file.write(f"{run.id}\n")
        for step in range(200):
            run.log({"loss": 1 / (step + 1)}, step=step)
            time.sleep(0.01)
        run.finish()


def view(port: int, folder: str, stop: Any, seed: int, viewers: int, out: Any) -> None:
    """Some viewers in a process of their own: the answers by status, and what each request waited."""
    counts: Counter[str] = Counter()
    waited: list[float] = []
    lost: list[str] = []

    def one(number: int) -> None:
        dice = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not stop.is_set():
            ids = noted_in(folder)
            page, run = dice.choice(PAGES), dice.choice(ids).strip()
            body = {"/api/series": {"runs": [run], "keys": ["loss"]}, "/api/runs": {}}.get(page, {"run": run})
            began = time.perf_counter()
            try:
                connection.request("POST", page, json.dumps(body), HEADERS)
                answer = connection.getresponse()
                said = answer.read()
            except (OSError, http.client.HTTPException) as fault:
                counts[type(fault).__name__] += 1
                connection.close()
                continue
            waited.append((time.perf_counter() - began) * 1000)
            counts[str(answer.status)] += 1
            if answer.status != 200 or b"there is no run" in said:
                counts["no run"] += answer.status == 200
                lost.append(f"{answer.status} {page} {said[:200]!r}")
            time.sleep(dice.random() * 0.2)
        connection.close()

    threads = [threading.Thread(target=one, args=(seed * 1000 + number,)) for number in range(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.put((counts, waited, lost))


def noted_in(folder: str) -> list[str]:
    return [
        line for file in Path(folder).glob("noted-*") for line in file.read_text().splitlines(True) if line[-1:] == "\n"
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--writers", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs"
        store.mkdir()
        ours, theirs = context.Pipe()
        server = context.Process(target=_serve, args=(str(store), theirs), daemon=True)
        server.start()
        port = int(ours.recv().rpartition(":")[2])
        stop = context.Event()
        writers = [
            context.Process(target=write, args=(str(store), f"{folder}/noted-{number}", stop), daemon=True)
            for number in range(options.writers)
        ]
        out = context.Queue()
        share = -(-options.viewers // 5)
        looking = [
            context.Process(target=view, args=(port, folder, stop, number, share, out), daemon=True)
            for number in range(-(-options.viewers // share))
        ]
        for process in writers:
            process.start()
        while len(noted_in(folder)) < options.writers:
            time.sleep(0.1)
        for process in looking:
            process.start()
        time.sleep(options.seconds)
        stop.set()
        counts: Counter[str] = Counter()
        waited: list[float] = []
        lost: list[str] = []
        for _ in looking:
            some, times, faults = out.get()
            counts += some
            waited += times
            lost += faults
        for process in (*looking, *writers):
            process.join()
        ours.send("stop")
        server.join(20)
        made = len(noted_in(folder))
    waited.sort()
    answers = ", ".join(f"{count} x {status}" for status, count in sorted(counts.items()))
    figures = f"p50 {waited[len(waited) // 2]:.0f} ms, p99 {waited[int(len(waited) * 0.99)]:.0f} ms" if waited else ""
    print(f"{options.viewers} viewers, {options.writers} writers, {made} runs: {answers}; {figures}")
    print(*sorted(set(lost))[:5], sep="\n")
    return int(set(counts) != {"200"})


if __name__ == "__main__":
    sys.exit(main())
