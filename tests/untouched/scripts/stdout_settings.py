"""What stdout is, set otherwise in the middle, sent elsewhere, closed: the script looks at all of it."""
import contextlib
import io
import os
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


for stream in (sys.stdout, sys.stderr):
    print(stream.name, stream.mode, stream.encoding, stream.errors, stream.line_buffering, stream.write_through)
    print(stream.isatty(), stream.fileno(), type(stream.buffer).__name__, type(stream.buffer.raw).__name__)
print(sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__, sys.stdout.write.__name__)
sys.stdout.reconfigure(line_buffering=True, encoding="ascii", errors="backslashreplace")
print("loss \u2248", step(), sys.stdout.encoding, sys.stdout.errors)
with contextlib.redirect_stdout(io.StringIO()) as kept:
    print("kept", step())
print(repr(kept.getvalue()), print.__module__)
sys.stdout.flush()
saved, elsewhere = os.dup(1), os.open("elsewhere.txt", os.O_RDWR | os.O_CREAT)
os.dup2(elsewhere, 1)
print("into a file", step(), flush=True)
os.dup2(saved, 1)
with open("elsewhere.txt") as file:
    print(file.read(), end="")
shut = io.StringIO()
shut.close()
sys.stdout, was = shut, sys.stdout
try:
    print("nowhere", step())
except ValueError as error:
    sys.stdout = was
    print(error)
sys.stdout = None
print("nothing is printed", step())
sys.stdout = was
print(step(), sys.stdout.write("four\n"))
