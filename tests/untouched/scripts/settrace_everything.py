"""A tracer and a profiler of the user's that follow all threads and count calls of the script's and of torch's code."""
import os
import sys
import threading
from collections import Counter

import torch
from torch import nn

HERE, TORCH = os.path.abspath(__file__), os.path.dirname(torch.__file__)
lines, calls = Counter(), Counter()


def trace(frame, event, arg):
    if os.path.abspath(frame.f_code.co_filename) == HERE:
        lines[event, frame.f_lineno if event == "line" else frame.f_code.co_name] += 1
        return trace
    if frame.f_code.co_filename.startswith(TORCH) and frame.f_code.co_name in ("forward", "step", "zero_grad"):
        calls[frame.f_code.co_name] += 1
    return None


def profile(frame, event, arg):
    if event == "c_call" and os.path.abspath(frame.f_code.co_filename) == HERE:
        calls[arg.__name__] += 1


def train():
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 3)).square().mean()
        loss.backward()
        optimizer.step()
    print(loss.item())


torch.manual_seed(0)
threading.settrace(trace)
threading.setprofile(profile)
sys.settrace(trace)
sys.setprofile(profile)
train()
thread = threading.Thread(target=train)
thread.start()
thread.join()
print(sys.gettrace() is trace, sys.getprofile() is profile)
sys.settrace(None)
sys.setprofile(None)
threading.settrace(None)
threading.setprofile(None)
for counted in (lines, calls):
    print(sorted((str(key), number) for key, number in counted.items()))
