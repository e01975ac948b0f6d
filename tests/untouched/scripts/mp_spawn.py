"""Spawned children import the script again: what they find loaded, and what they send back."""
import multiprocessing as mp
import sys


def child(queue, seed):
    loaded = sorted(name for name in ("torch", "numpy") if name in sys.modules)
    queue.put((seed * 2, __name__, sys.argv[1:], loaded, mp.current_process().name))
    sys.exit(seed)


if __name__ == "__main__":
    import torch

    torch.manual_seed(0)
    w = torch.randn(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    context = mp.get_context("spawn")
    queue = context.Queue()
    for step in range(3):
        optimizer.zero_grad()
        (w * 2).square().sum().backward()
        optimizer.step()
        if step == 1:
            process = context.Process(target=child, args=(queue, 3))
            process.start()
            print(queue.get())
            process.join()
            print(process.exitcode)
        print(step, w.sum().item())
    print(mp.get_start_method(allow_none=True))
