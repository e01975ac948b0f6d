"""The compiled scanner believes nothing it is given: fuzzed under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest

TRACES = Path(__file__).parents[2] / "samples" / "traces"
HARNESS = Path(__file__).parent / "fuzz_scanner.c"


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler here")
    target = tmp_path_factory.mktemp("fuzz") / "fuzz_scanner"
    flags = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-sanitize-recover=all"]
    command = [compiler, *flags, "-fsanitize=address,undefined", "-o", str(target), str(HARNESS), "-lm"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if "cannot find" in made.stderr and "san" in made.stderr:
        pytest.skip("this compiler has no sanitizers")
    assert made.returncode == 0, made.stderr
    return target


@pytest.fixture
def small_trace(tmp_path: Path) -> Path:
    """A real event of each category, as torch wrote it."""
    trace = json.loads(gzip.decompress((TRACES / "h200.json.gz").read_bytes()))
    seen: dict[tuple[str, str], dict[str, object]] = {}
    for event in trace["traceEvents"]:
        seen.setdefault((event.get("cat", ""), event["ph"]), event)
    trace["traceEvents"] = list(seen.values())
    path = tmp_path / "small.json"
    path.write_text(json.dumps(trace, indent=1)[:6000])
    return path


def test_no_bytes_make_it_read_or_write_elsewhere(fuzzer: Path, small_trace: Path) -> None:
    done = subprocess.run(
        [str(fuzzer), str(small_trace), "2"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    rounds = int(done.stdout.split()[0])
    assert rounds > 100, f"only {rounds} inputs were tried"
