"""How many generated secrets are masked, how much ordinary text is masked by mistake, and what masking costs.

    python bench/masking.py [--count 10000] [--seed 20] [--other FOLDER]

Prints the figures of docs/security.md. A secret counts as leaked if six letters of it in a row are still to be seen.
`--other` measures false masks on another folder of Python files too.
"""

from __future__ import annotations

import argparse
import random
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.track.planted_secrets import Case, cases  # noqa: E402

from stepscope.track import secrets  # noqa: E402
from stepscope.track.secrets.text import secret_spans  # noqa: E402

ORDINARY = [
    "token_count=512 tokenizer=bert password_length=12 max_tokens: 4096",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> main)",
    "run 01JD3K8Z6Q4W2V9N5T7B1X3C5F at 123e4567-e89b-12d3-a456-426614174000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "Namespace(token='cls', key='val_loss', auth=None, eos_token='</s>', pad_token_id=0, secret=False)",
    "{'monitor_key': 'val/loss', 'keys': ['a', 'b'], 'num_tokens': 512, 'token_dim': 64, 'author': 'Ada'}",
    "model.layers.12.self_attn.key.weight: 0.123 attention.key=0.5 primary_key=id",
    "wandb: Run data is saved locally in /data/wandb/run-20261116_101010-abc123de",
    "Downloading tokenizer_config.json: 100%|██████████| 1.2k/1.2k [00:00<00:00, 3.1MB/s]",
    "cache key=epoch3_step1200_rank0_v2 session=train_20261116_101010 forward pass: 0.123s pass 2 of 3",
    "def login(token: str, password: Optional[str] = None, key: int = 3) -> Session:",
    "token = tokenizer.decode(ids); password = os.environ['DB_PASSWORD']; api_key = settings.api_key",
    "parser.add_argument('--password', help='the password of the database', default=None)",
    "curl -H \"Authorization: Bearer $TOKEN\" https://example.org/?token={token}",
    "password: ${DB_PASSWORD}  # from the vault", "api_key: <your key here>", "HF_TOKEN=$(cat ~/.hf)",
    "seed=1234567890123456 lr=3e-4 hash=9f86d081884c7d65 checkpoint=/data/keys/run-12/step_001200.pt",
    "Password must have 8-16 characters. The secret is patience. A token of 12 letters is short.",
    "docker run -u 1000:1000 image:tag user@example.org git@github.com:org/repo.git http://[::1]:8080/a@b",
]  # fmt: skip
"""Lines with every word that could be mistaken."""


def is_leaked(secret: str, shown: str) -> bool:
    """Whether six letters of it in a row are still there."""
    return any(secret[at : at + 6] in shown for at in range(max(1, len(secret) - 5)))


def leaks(drawn: Iterable[Case]) -> list[Case]:
    """The cases whose secret is still to be seen; each is masked on its own, with nothing learned before."""
    found = []
    for case in drawn:
        secrets.forget_all()
        if is_leaked(case.secret, secrets.mask_text(case.text)):
            found.append(case)
    secrets.forget_all()
    return found


def ordinary_logs(count: int, seed: int = 20) -> Iterator[str]:
    """Lines as trainers print them."""
    rng = random.Random(seed)
    for step in range(count):
        loss, norm, lr = rng.random() * 4, rng.random() * 10, rng.random() * 1e-3
        yield f"epoch {step // 100} step {step} loss={loss:.4f} lr={lr:.2e} grad_norm={norm:.3f} tok/s={norm * 1e4:.0f}"
        yield f"{{'loss': {loss:.4f}, 'grad_norm': {norm:.4f}, 'learning_rate': {lr:.3e}, 'num_tokens': {step * 512}}}"
        yield f"[2026-11-16 10:{step % 60:02d}:01,{step % 1000:03d}][train][INFO] - tokens: {step} key: step_{step}"
        yield f"saved /ckpt/{rng.getrandbits(160):040x}/model-{step:06d}.pt (sha {rng.getrandbits(256):064x})"


def false_masks(lines: Iterable[str]) -> list[str]:
    """What was masked in text that has no secrets."""
    return [line[start:end] for line in lines for start, end in secret_spans(line)]


def _files(kind: str, other: Path | None) -> list[Path]:
    if kind == "docs":
        return sorted((ROOT / "docs").rglob("*.md"))
    if kind == "source":
        return [path for path in sorted((ROOT / "src").rglob("*.py")) if "secrets" not in path.parts]
    if kind == "stdlib":
        folder = Path(sysconfig.get_paths()["stdlib"])
        return [path for path in sorted(folder.rglob("*.py")) if not {"site-packages", "test"} & set(path.parts)]
    return sorted(other.rglob("*.py")) if other is not None else []


def _lines(kind: str, limit_bytes: int | None = None, other: Path | None = None) -> Iterator[str]:
    total = 0
    for path in _files(kind, other):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from text.splitlines()
        total += len(text)
        if limit_bytes is not None and total > limit_bytes:
            return


def count_false_masks(kind: str, limit_bytes: int | None = None) -> int:
    return len(false_masks(_lines(kind, limit_bytes)))


def _cost(text: str) -> float:
    """Milliseconds of CPU per MB, the best of five."""
    best = float("inf")
    for _ in range(5):
        secrets.forget_all()
        began = time.process_time()
        secrets.mask_text(text)
        best = min(best, time.process_time() - began)
    return best * 1000 / (len(text) / 1e6)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--other", type=Path)
    options = parser.parse_args()
    left = leaks(cases(options.count, options.seed))
    print(f"masked: {options.count - len(left):,} of {options.count:,} secrets")
    for (shape, wrapping), count in Counter((case.shape, case.wrapping) for case in left).most_common(20):
        print(f"  leaked {count}: {shape} in {wrapping}")
    print("false masks")
    for kind in ("logs", "docs", "source", "stdlib", *(["other"] if options.other else [])):
        lines = list(ordinary_logs(20_000) if kind == "logs" else _lines(kind, other=options.other))
        size = sum(map(len, lines)) / 1e6
        cost = _cost("\n".join(lines)[:4_000_000])
        print(f"  {kind:8} {len(false_masks(lines)):4} in {size:7.2f} MB; {cost:.0f} ms/MB")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
