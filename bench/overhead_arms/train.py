"""The training script of the bench: a GPT on random tokens through a DataLoader, AdamW, in turns (see turns.py)."""

import argparse
import sys
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

sys.path.insert(1, str(Path(__file__).parents[1]))

from overhead_arms.arms import prepare
from overhead_arms.gpt import GPT, SIZES
from overhead_arms.turns import Turns, only_the_pulse

PULSE_FROM = 40


class Tokens(Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        made = torch.Generator().manual_seed(index)
        return torch.randint(self.size.vocabulary, (self.size.tokens + 1,), generator=made)


def train(arm, size, device):
    torch.manual_seed(0)
    cuda = device == "cuda"
    model = GPT(size).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=cuda)
    loader = iter(DataLoader(Tokens(size), batch_size=size.batch, pin_memory=cuda))
    turns = Turns(torch.cuda.synchronize if cuda else lambda: None)
    if cuda:
        from overhead_arms.syncs import Counting

        turns.counting = Counting()
    after_step, around = prepare(arm, model, optimizer)
    with around:
        for step in turns.steps():
            if step == PULSE_FROM and arm == "pulse":
                only_the_pulse()
            ids = next(loader).to(device, non_blocking=True)
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=cuda):
                logits = model(ids[:, :-1])
                loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            after_step(loss)
    digest = sum(p.detach().double().abs().sum() for p in model.parameters())
    turns.tell(loss=loss.item(), weights=digest.item(), peak_bytes=torch.cuda.max_memory_allocated() if cuda else 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--arm", default="plain")
    parser.add_argument("--size", default="cpu", choices=SIZES)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1 if options.device == "cpu" else 4)
    if options.arm.startswith("lightning"):
        from overhead_arms.in_lightning import train_in_lightning

        train_in_lightning(options.arm, SIZES[options.size], Tokens)
    else:
        train(options.arm, SIZES[options.size], options.device)
