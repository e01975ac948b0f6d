"""The script starts itself again as a plain subprocess, and looks at what the child is given."""
import os
import subprocess
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item(), flush=True)
CODE = """
import os, signal, sys, threading
print(sys.argv, sys.flags.dev_mode, sys.flags.utf8_mode, threading.active_count(), sys.stdin.read())
print([name for name in sys.modules if name.partition(".")[0] in ("torch", "stepscope")])
print(signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
print(sorted(os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))
sys.exit(9)
"""
done = subprocess.run([sys.executable, "-c", CODE, "--lr", "1"], input="given", text=True, capture_output=True)
print(done.returncode, done.stdout, done.stderr)
done = subprocess.run(["sh", "-c", "echo $0 $PYTHONPATH; trap; ulimit -n; exit 4"], capture_output=True, text=True)
print(done.returncode, done.stdout, done.stderr)
print(os.popen("echo from a shell").read(), os.system("exit 3") >> 8, os.getcwd() == os.path.abspath("."))
