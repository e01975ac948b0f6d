"""catch_warnings(record=True) around training: as many warnings, with the same words and lines."""
import warnings

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for step in range(5):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.zero_grad()
        if step == 0:
            scheduler.step()
        loss = nn.functional.mse_loss(model(torch.randn(2, 3)), torch.zeros(2))
        loss.backward()
        optimizer.step()
        model(torch.randn(2, 3)).grad
        warnings.warn("mine", DeprecationWarning)
    print(step, loss.item(), [(w.category.__name__, str(w.message)[:60], w.filename == __file__, w.lineno) for w in caught if w.filename == __file__])
    print(len(caught))
print(warnings.filters[:2], warnings.showwarning.__module__)
