# expect: nothing
# ranks: 3

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

STEPS = 120


def serve(model, workers):
    """Rank 0 holds the optimizer: gradients in, weights out."""
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    flat = parameters_to_vector(model.parameters()).detach()
    for _ in range(STEPS):
        total = torch.zeros_like(flat)
        for worker in workers:
            gradient = torch.empty_like(flat)
            dist.recv(gradient, src=worker)
            total += gradient / len(workers)
        begin = 0
        for parameter in model.parameters():
            end = begin + parameter.numel()
            parameter.grad = total[begin:end].view_as(parameter).clone()
            begin = end
        optimizer.step()
        dist.broadcast(parameters_to_vector(model.parameters()).detach(), src=0)


def work(model, rank):
    source = torch.Generator().manual_seed(rank)
    for step in range(STEPS):
        x = torch.randn(32, 6, generator=source)
        loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1).tanh())
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        dist.send(torch.cat([one.reshape(-1) for one in gradients]), dst=0)
        fresh = torch.empty_like(parameters_to_vector(model.parameters()))
        dist.broadcast(fresh, src=0)
        vector_to_parameters(fresh, model.parameters())
        if rank == 1 and step % 40 == 39:
            print(step, loss.item())


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
if rank == 0:
    serve(model, range(1, world))
else:
    work(model, rank)
dist.destroy_process_group()
