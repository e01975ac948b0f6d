# untouched: without dynamo
"""What a script sees of its process: environment, arguments, path, folder, files, limits."""
import os
import resource
import sys
import threading

import torch

torch.manual_seed(0)
w = torch.ones(3, requires_grad=True)
(w * torch.rand(3)).sum().backward()
print([name for name in sorted(os.environ) if name.startswith(("OMP", "TORCH", "CUDA", "PYTHON", "MKL"))])
print(sys.argv[1:], os.path.basename(sys.argv[0]), os.path.basename(sys.path[0]), __name__, __spec__, __package__)
print(os.path.basename(os.getcwd()), sorted(os.listdir(".")), torch.get_num_threads(), threading.current_thread().name)
print(resource.getrlimit(resource.RLIMIT_NOFILE) is not None, os.nice(0), os.umask(0o22), sys.flags.optimize)
with open("made.txt", "w") as file:
    file.write("here")
print(sorted(os.listdir(".")), w.grad.tolist())
