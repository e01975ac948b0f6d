"""Ctrl+C in the middle of a step, caught by the script, which then saves and goes on."""
import os
import signal
import time

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3)).square().mean()
    loss.backward()
    try:
        if step == 2:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        optimizer.step()
    except KeyboardInterrupt:
        print("interrupted", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    print(step, loss.item())
