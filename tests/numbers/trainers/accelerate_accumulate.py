"""Accelerate: accumulation by its context, total_loss over the epoch, accuracy in percent."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
train_dl = DataLoader(TensorDataset(x[:240], y[:240]), 30, shuffle=True)
eval_dl = DataLoader(TensorDataset(x[250:], y[250:]), 20)
model, optimizer, train_dl, eval_dl = accelerator.prepare(model, optimizer, train_dl, eval_dl)
for epoch in range(3):
    model.train()
    total_loss = 0.0
    for inputs, targets in train_dl:
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(inputs), targets)
            total_loss += loss.detach().float()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    accurate = num_elems = 0
    for inputs, targets in eval_dl:
        with torch.inference_mode():
            outputs = model(inputs)
        predictions = outputs.argmax(dim=-1)
        accurate_preds = accelerator.gather_for_metrics(predictions) == accelerator.gather_for_metrics(targets)
        num_elems += accurate_preds.shape[0]
        accurate += accurate_preds.long().sum()
    eval_metric = accurate.item() / num_elems
    accelerator.print(f"epoch {epoch}: {100 * eval_metric:.2f} train_loss: {total_loss.item() / len(train_dl):.4f}")
