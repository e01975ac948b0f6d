"""The measured script: an ordinary loop, with a clock that is read a few times (see clock.py)."""

import argparse
import hashlib
import sys
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parents[1]))

from overhead_arms.arms import prepare
from overhead_arms.clock import Clock
from overhead_arms.works import make_work


def train(work, clock, after_step):
    while True:
        for batch in work.batches:
            if not clock.tick():
                return
            work.optimizer.zero_grad()
            loss = work.loss_of(work.model, batch)
            loss.backward()
            work.optimizer.step()
            after_step(loss)


def evaluate(work, clock):
    with torch.no_grad():
        while True:
            for batch in work.batches:
                if not clock.tick():
                    return
                work.loss_of(work.model, batch)


def digest(model):
    """Equal only if every bit of the weights is."""
    found = hashlib.sha256()
    for value in model.state_dict().values():
        found.update(value.detach().cpu().numpy().tobytes())
    return found.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("--arm", default="plain")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    cuda = options.device == "cuda"
    torch.set_num_threads(4 if cuda else 1)
    work = make_work(options.work, options.device, options.tiny)
    clock = Clock(torch.cuda.synchronize if cuda else lambda: None)
    if cuda:
        from overhead_arms.syncs import waits

        clock.late = waits()
    if options.arm.startswith("lightning"):
        from overhead_arms.in_lightning import train_in_lightning

        train_in_lightning(options.arm, work, clock)
    elif work.optimizer is None:
        evaluate(work, clock)
    else:
        after_step, around = prepare(options.arm, work.model)
        with around:
            train(work, clock, after_step)
    clock.write(weights=digest(work.model), peak_bytes=torch.cuda.max_memory_allocated() if cuda else 0)


if __name__ == "__main__":
    main()
