"""The script runs other scripts: `runpy.run_path`, `exec` of compiled text, a package with relative imports, reload."""
import importlib
import os
import runpy
import sys

import torch

TEXT = """
import sys, torch
from torch import nn
print(__name__, sys.argv, __file__.rsplit("/", 1)[-1])
torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 2)).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
if __name__ == "__main__":
    print("as main")
"""
with open("other.py", "w") as file:
    file.write(TEXT)
os.makedirs("package", exist_ok=True)
for name, text in {
    "__init__": "from .config import LR",
    "config": "LR = 0.5",
    "__main__": "from . import LR\nfrom .config import LR as again\nprint(__name__, __package__, LR, again)",
}.items():
    with open(f"package/{name}.py", "w") as file:
        file.write(text)
sys.path.insert(0, os.getcwd())
print(sorted(set(runpy.run_path("other.py", run_name="__main__")) - {"__builtins__"}))
print(sys.modules["__main__"].__dict__ is globals(), sys.argv[1:])
print(runpy.run_path("other.py")["loss"].item())
runpy.run_module("package", run_name="__main__", alter_sys=True)
runpy.run_module("package")
package = importlib.import_module("package")
print(importlib.reload(package).LR, package.__file__.rsplit("/", 2)[1:])
names = {"__name__": "made", "__file__": "made.py"}
exec(compile(TEXT, "made.py", "exec"), names)
print(names["loss"].item(), torch.initial_seed())
for name in [name for name in sys.modules if name.partition(".")[0] == "package"]:
    del sys.modules[name]
sys.path.pop(0)
