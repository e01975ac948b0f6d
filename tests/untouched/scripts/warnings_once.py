"""Filters of all kinds and the registries behind them; captured by logging; warnings of torch that come once."""
import logging
import sys
import warnings

import torch
from torch import nn


def warn(text, level=1):
    warnings.warn(text, UserWarning, stacklevel=level)


torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scheduler.step()  # before the optimizer: torch warns once
for action in ("once", "default", "module", "always", "error", "ignore"):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)
        for _ in range(2):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(torch.randn(4, 3)), torch.zeros(4))
            loss.backward()
            optimizer.step()
            try:
                warn("mine", 2)
            except UserWarning as error:
                print("raised", error)
        print(action, [(one.lineno, one.filename.rsplit("/", 1)[-1], str(one.message)[:40]) for one in seen])
print(sorted(str(key)[:60] for key in globals().get("__warningregistry__", {})))
torch.set_warn_always(True)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(2):
        torch.ones(2, requires_grad=True).mul(2).grad
    print([(one.lineno, one.filename.rsplit("/", 1)[-1]) for one in seen])
torch.set_warn_always(False)
logging.captureWarnings(True)
logging.basicConfig(stream=sys.stdout, format="%(name)s %(lineno)d %(funcName)s %(message)s", force=True)
warn("captured")
logging.getLogger("mine").warning("from %s", "here")
print(logging.getLogger().handlers[0].stream is sys.stdout, len(logging.getLogger().handlers), logging.getLogger().level)
logging.captureWarnings(False)
