"""An event loop with signal handlers (which use `set_wakeup_fd`), a task that is cancelled, and a thread that trains."""
import asyncio
import os
import signal

import torch
from torch import nn

seen = []


def step(model, optimizer):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


async def forever():
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise


async def main():
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGUSR1):
        loop.add_signal_handler(number, seen.append, number.name)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    task = asyncio.create_task(forever())
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGTERM):
        print(step(model, optimizer))
        os.kill(os.getpid(), number)
        while len(seen) == 0 or seen[-1] != number.name:
            await asyncio.sleep(0)
        seen.append("step")
    print(await asyncio.to_thread(step, model, optimizer))
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True))
    print(loop.remove_signal_handler(signal.SIGTERM), loop.remove_signal_handler(signal.SIGUSR1))


torch.manual_seed(0)
asyncio.run(main())
print(seen, signal.getsignal(signal.SIGTERM), signal.set_wakeup_fd(-1))
with asyncio.Runner() as runner:
    try:
        runner.run(asyncio.wait_for(asyncio.Event().wait(), 0.01))
    except TimeoutError as error:
        print(type(error).__name__)
