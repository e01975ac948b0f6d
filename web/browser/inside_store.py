"""Runs to look inside of: what they printed, the files they kept, the steps they recorded. For tests and screenshots.

python make_store.py inside DIR            python make_store.py inside DIR 1000000    # and a run of so many lines
"""

from __future__ import annotations

import io
import json
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import torch
from torch import nn
from vae import VAE, recorded

import stepscope
from stepscope.inspect.logged import LoggedStep
from stepscope.records import Console, End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.track.artifacts import log_artifact

EPOCHS, STEPS = 8, 100
BROKEN_AT = 734
SCRIPT = "<img src=x onerror=\"document.title='PWNED'\">"


class Made:
    """One run, written with times of its own so that it looks like hours of work."""

    def __init__(self, store: Path, name: str, age_s: float, **about: Any) -> None:
        self.began = self.now = time.time() - age_s
        meta = RunMeta(
            id=new_run_id(self.began),
            project="digits",
            name=name,
            created=self.began,
            command=["python", "train.py"],
            **about,
        )
        self.id = meta.id
        self.path = create_run(store, meta)
        self.writer = RunWriter(self.path, run_id=meta.id, heartbeat_s=0, fsync_s=0)
        self.step: int | None = None

    def say(self, text: str, stream: str = "stdout", took_s: float = 0.4, rewrite: bool = False) -> None:
        self.now += took_s
        self.writer.console(Console(time=self.now, stream=stream, text=text, rewrite=rewrite, step=self.step))  # type: ignore[arg-type]

    def warn(self, text: str, took_s: float = 0.1) -> None:
        self.say(text, "stderr", took_s)

    def keep(self, files: dict[str, bytes], name: str, **about: Any) -> None:
        log_artifact(self.writer, files, name, step=self.step, **about)

    def record(self, step: stepscope.Step) -> None:
        for media, data in LoggedStep(step.record).encode("recording", self.step or 0, self.now):
            self.writer.media(media, data)

    def end(self, status: str = "finished", **about: Any) -> None:
        self.writer.close(End(time=self.now, status=status, **about))  # type: ignore[arg-type]


def picture(seed: int, size: int = 112) -> bytes:
    """Reconstructions as a PNG: a grid of blurred strokes, sharper with every version."""
    rows = []
    for y in range(size):
        row = bytearray()
        for x in range(size):
            cell, cx, cy = (x // 28) * 7 + (y // 28) * 3 + seed, x % 28 - 14, y % 28 - 14
            bend = (cell % 5 - 2) * 0.12
            off = abs(cx - bend * cy * (1 + cell % 3)) if cell % 2 else abs((cx * cx + cy * cy) ** 0.5 - 7)
            row.append(max(8, min(255, int(270 - off * (40 + 18 * seed)))) if off < 6 else 8)
        rows.append(b"\0" + bytes(row))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"".join(rows)))
        + chunk(b"IEND", b"")
    )


def weights(net: nn.Module) -> bytes:
    out = io.BytesIO()
    torch.save({name: value.half() for name, value in net.state_dict().items()}, out)
    return out.getvalue()


CARD = """# A VAE of digits

A small variational autoencoder: 784 → 128 → 64 → **8** and back.

| | value |
|---|---|
| latent | 8 |
| optimizer | Adam, `lr=3e-3` |

- trained for eight epochs
- *not* for use on faces, see [the paper](https://arxiv.org/abs/1312.6114)
"""


def inside(store: Path, lines: int = 0) -> None:
    torch.manual_seed(0)
    if lines:
        long(store, lines)
    names(store)
    bare = Made(store, "nothing inside", 9000)
    bare.end()
    ranks(store)
    diverges(store)


def diverges(store: Path) -> None:
    """A VAE whose variance runs away: it prints, keeps weights, and ends with a NaN that a recording explains."""
    run = Made(store, "vae-kl-explodes", 4200, config={"lr": 3e-3, "latent": 8, "epochs": EPOCHS})
    net = VAE()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    x = torch.rand(32, 784).round()
    run.say("\x1b[36mStepscope\x1b[0m watches this run: stepscope ui\n")
    run.say("config: lr 0.003 · latent 8 · batch 32 · Adam\ndata: 60,000 digits, 1,875 batches\n")
    run.say(f"\x1b[1mVAE\x1b[0m has {sum(p.numel() for p in net.parameters()):,} parameters\n")
    run.warn("\x1b[33mUserWarning:\x1b[0m pin_memory is set but no accelerator was found; it has no effect\n")
    row = run.writer.keyset(("train/loss", "train/kl", "lr"))
    loss = 540.0
    for epoch in range(EPOCHS):
        run.say(f"\x1b[1;34m── epoch {epoch + 1} of {EPOCHS} ──────────────────────────────\x1b[0m\n")
        for step in range(epoch * STEPS, (epoch + 1) * STEPS):
            run.step = step
            loss = 96 + 440 * 0.993**step + 6 * ((step * 7919) % 13 - 6) / 6
            row.write(step, (float("nan") if step >= BROKEN_AT else loss, 4 + step / 60, 3e-3))
            if step in (0, 400):
                run.record(recorded(net, x, optimizer))
            if step % 25 == 24:
                bar(run, epoch, step % STEPS + 1, loss)
            if step % 50 == 49:
                level = "\x1b[38;5;208mWARN\x1b[0m" if step > 600 else "\x1b[32mINFO\x1b[0m"
                said = f"loss {loss:8.3f}  kl {4 + step / 60:6.2f}  grad {0.8 + step / 300:5.2f}"
                run.say(f"{level} step {step + 1:>4}  {said}\n")
            if step == BROKEN_AT:
                broken(run, net, x, optimizer)
                return
        checkpoint(run, net, epoch, loss)


def bar(run: Made, epoch: int, done: int, loss: float) -> None:
    filled = "█" * (done // 5) + "·" * (20 - done // 5)
    end = "\n" if done == STEPS else ""
    text = f"epoch {epoch + 1}: {done:>3}%|{filled}| {done}/{STEPS} [{done // 4:02d}s, 4.1 it/s, loss={loss:.1f}]"
    run.say(text + end, "stderr", 6.0, rewrite=done > 25)


def checkpoint(run: Made, net: VAE, epoch: int, loss: float) -> None:
    if epoch % 3 != 1:
        return
    metrics = json.dumps(
        {"epoch": epoch + 1, "loss": round(loss, 3), "per_class": {str(n): 0.9 + n / 200 for n in range(10)}}
    )
    table = "digit,count,error\n" + "".join(
        f"{n},{5400 + 37 * n},{0.12 - n * 0.004 - epoch * 0.006:.4f}\n" for n in range(10)
    )
    files = {
        "model/vae.pt": weights(net),
        "model/config.json": b'{"latent": 8, "width": [784, 128, 64]}',
        "README.md": CARD.encode(),
        "metrics.json": metrics.encode(),
        "errors.csv": table.encode(),
        "samples/reconstruction.png": picture(epoch),
    }
    if epoch > 1:
        files["samples/latent.png"] = picture(epoch + 3)
    else:
        files["notes.txt"] = b"first weights that are worth keeping\n"
    aliases = ["best", "latest"] if epoch > 3 else "latest"
    run.keep(files, "vae", type="model", aliases=aliases, metadata={"epoch": epoch + 1, "loss": round(loss, 3)})
    run.say(f"\x1b[32m✓\x1b[0m saved \x1b[4mvae:v{epoch // 3}\x1b[0m after epoch {epoch + 1}\n")


def broken(run: Made, net: VAE, x: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
    with torch.no_grad():
        net.encoder.logvar.weight.mul_(2)
        net.encoder.logvar.bias.fill_(104.0)
    step = recorded(net, x, optimizer)
    run.record(step)
    run.warn(f"\x1b[1;31mthe loss of step {BROKEN_AT} is inf\x1b[0m\n")
    run.warn(
        "Traceback (most recent call last):\n"
        '  File "train.py", line 88, in <module>\n    main()\n'
        '  File "train.py", line 74, in main\n    loss = step(batch)\n'
        '  File "train.py", line 51, in step\n    raise FloatingPointError(f"the loss is {loss} at step {number}")\n'
        f"FloatingPointError: the loss is inf at step {BROKEN_AT}\n"
    )
    manifest = {
        "why": "loss", "step": BROKEN_AT, "loss": "inf", "script": "train.py", "format": 1,
        "missing": ["optimizer 0: 412,312 bytes, more than fits (--capsule-size allows more)"],
    }  # fmt: skip
    notes = {"why": "loss", "step": BROKEN_AT, "rank": 0}
    files = {"capsule.json": json.dumps(manifest).encode(), "source/train.py": b"def main():\n    ...\n"}
    files["tensors.safetensors"] = bytes(1_300_000)
    run.keep(files, f"capsule-step-{BROKEN_AT}", type="capsule", metadata=notes)
    run.writer.event(_reference(run))
    run.end("failed", exit_code=1, error=f"FloatingPointError: the loss is inf at step {BROKEN_AT}")


def _reference(run: Made) -> Any:
    from stepscope.records import Artifact, ArtifactFile

    file = ArtifactFile(path="digits.tar", sha256="", size=0, reference="s3://data/digits/v3/digits.tar")
    return Artifact(time=run.now, name="digits", type="dataset", version=0, digest="9f" * 32, files=[file])


def ranks(store: Path) -> None:
    """Four processes that print at the same time."""
    run = Made(store, "ddp on four ranks", 7200)
    others = [RunWriter(run.path, run_id=run.id, rank=rank, heartbeat_s=0, fsync_s=0) for rank in (1, 2, 3)]
    for step in range(40):
        for rank, writer in enumerate((run.writer, *others)):
            text = f"[rank {rank}] step {step} loss {2.3 * 0.97**step + rank / 100:.4f}\n"
            writer.console(Console(time=run.began + step + rank / 10, stream="stdout", text=text, step=step))
    for writer in others:
        writer.close(End(time=run.began + 41, status="finished"))
    run.end()


def names(store: Path) -> None:
    """Everything in it tries to be markup, a path, or another terminal's commands."""
    run = Made(store, SCRIPT, 9500)
    run.say(f"{SCRIPT}\n\x1b]0;{SCRIPT}\x07\x1b[2J\x1b[31m</span><script>document.title='PWNED'</script>\u202eolleh\n")
    run.say("x" * 60_000 + "\n\x00\x01\x07 bell\n")
    files = {
        f"{SCRIPT}.md".replace(
            "/", "_"
        ): f"{SCRIPT}\n\n[x](javascript:alert(1)) ![i](http://evil.example/x.png)".encode()
    }
    files["page.html"] = b"<script>parent.document.title='PWNED'</script>"
    files["fake.png"] = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    run.keep(files, SCRIPT.replace("/", "_"), metadata={SCRIPT: SCRIPT})
    run.end()


def long(store: Path, lines: int) -> None:
    run = Made(store, f"{lines} lines", 20_000)
    for first in range(0, lines, 500):
        run.step = first // 100
        text = "".join(
            f"\x1b[32mINFO\x1b[0m step {n} loss {2 / (1 + n / 1000):.5f} lr 3e-4 throughput {1200 + n % 77} tok/s\n"
            for n in range(first, min(lines, first + 500))
        )
        run.say(text, took_s=0.01)
    run.end()
