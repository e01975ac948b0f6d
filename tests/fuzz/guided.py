"""One target fuzzed by Atheris, guided by coverage: `python -m tests.fuzz.guided TARGET SECONDS FOLDER`.

Exits with libFuzzer's code: 0 when nothing was found. What was found lies in FOLDER, ready to be a seed. `scripts/fuzz`
runs this for each target; nothing in the gate needs Atheris.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

MOST_MB = 1024
LONGEST_S = 5


def main(name: str, seconds: str, folder: str) -> None:
    import atheris  # type: ignore[import-not-found]

    with atheris.instrument_imports(include=["stepscope"]):
        from tests.fuzz.targets import TARGETS

        target = TARGETS[name]
        seeds = target.seeds()
        for seed in seeds:
            target(seed)  # what it imports is instrumented too
    corpus = Path(folder) / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    options = [
        f"-max_total_time={seconds}", f"-timeout={LONGEST_S}", f"-rss_limit_mb={_used_mb() + MOST_MB}",
        "-max_len=65536", f"-artifact_prefix={folder}/{name}-", "-print_final_stats=1", "-verbosity=0",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], _one(target))
    atheris.Fuzz()


def _one(target: Any) -> Any:
    def one(data: bytes) -> None:
        target(data)

    return one


def _used_mb() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


if __name__ == "__main__":
    main(*sys.argv[1:4])
