# untouched: only run
"""A spawned child trains the same model and sends the answer back; children find no Stepscope of the parent's."""
import multiprocessing as mp
import sys


def child(queue, seed):
    import torch

    torch.manual_seed(seed)
    w = torch.randn(3, requires_grad=True)
    (w * 2).sum().backward()
    queue.put((w.sum().item(), w.grad.tolist(), __name__, sys.argv[1:]))


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue, 3))
    process.start()
    print(queue.get())
    process.join()
    print(process.exitcode, mp.get_start_method(allow_none=True))
