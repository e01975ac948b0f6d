"""Two trainings as coroutines of one loop, with context variables and an executor."""
import asyncio
import contextvars

import torch
from torch import nn

who = contextvars.ContextVar("who", default="nobody")


async def train(name):
    who.set(name)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(1, 2)).square().mean()
        await asyncio.sleep(0)
        loss.backward()
        optimizer.step()
        print(who.get(), step, loss.item())
        await asyncio.sleep(0)
    return loss.item()


async def main():
    print(await asyncio.gather(train("a"), train("b")))
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, lambda: torch.ones(2, requires_grad=True).sum().item()))


torch.manual_seed(0)
asyncio.run(main())
print(who.get(), len(contextvars.copy_context()))
