"""Schedulers of every kind, chained and sequential, and ReduceLROnPlateau."""
import torch
from torch import nn
from torch.optim import lr_scheduler as S

torch.manual_seed(0)
model = nn.Linear(2, 1)


def make(kind):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return optimizer, kind(optimizer)


kinds = [
    lambda o: S.StepLR(o, 2),
    lambda o: S.MultiStepLR(o, [1, 2]),
    lambda o: S.LambdaLR(o, lambda e: 1 / (1 + e)),
    lambda o: S.OneCycleLR(o, 0.5, total_steps=5),
    lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=2),
    lambda o: S.CosineAnnealingWarmRestarts(o, 2),
    lambda o: S.SequentialLR(o, [S.LinearLR(o), S.ExponentialLR(o, 0.5)], [1]),
    lambda o: S.ChainedScheduler([S.ConstantLR(o), S.PolynomialLR(o, 3)]),
    lambda o: S.ReduceLROnPlateau(o, patience=0),
]
for number, kind in enumerate(kinds):
    optimizer, scheduler = make(kind)
    rates = []
    for step in range(2):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 2)).square().mean()
        loss.backward()
        optimizer.step()
        scheduler.step(loss.item()) if number == 8 else scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    print(number, type(scheduler).__name__, loss.item(), rates, type(optimizer.step).__name__, "step" in vars(optimizer))
