"""The script's own use of faulthandler: enabled to a file, dumped, registered for a signal, with a timer."""
import faulthandler
import os
import re
import signal

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print(faulthandler.is_enabled())
log = open("fault.log", "w+")
faulthandler.enable(log)
faulthandler.register(signal.SIGUSR2, log, all_threads=False)
faulthandler.dump_traceback_later(60, file=log)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).square().mean()
    os.kill(os.getpid(), signal.SIGUSR2)
    loss.backward()
    optimizer.step()
    print(loss.item())
faulthandler.cancel_dump_traceback_later()
faulthandler.dump_traceback(log, all_threads=False)
print(faulthandler.unregister(signal.SIGUSR2), faulthandler.is_enabled())
faulthandler.disable()
print(faulthandler.is_enabled())
log.seek(0)
text = log.read()
print(text.count("most recent call first"), re.findall(r"faulthandler_user.py\", line (\d+) in (\S+)", text))
