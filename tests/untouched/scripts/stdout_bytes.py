"""Bytes and text on stdout in one order: buffer writes, flushes, os.write, print(end=...), redirect_stdout."""
import contextlib
import io
import os
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 2)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, end=" ", flush=True)
    sys.stdout.buffer.write(b"\x00\xff raw \n")
    sys.stdout.flush()
    os.write(1, b"direct\n")
    sys.stdout.write("text\r\n")
with contextlib.redirect_stdout(io.StringIO()) as caught:
    print("hidden", loss.item())
print(repr(caught.getvalue()), sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.fileno(), sys.stdout is sys.__stdout__)
print("partial line without an end", end="")
sys.stderr.write("to stderr\n")
