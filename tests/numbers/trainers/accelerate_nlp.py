"""Accelerate: gather_for_metrics, an accuracy object, a dictionary printed each epoch."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()


class Accuracy:
    def __init__(self):
        self.right = self.seen = 0

    def add_batch(self, predictions, references):
        self.right += (predictions == references).sum().item()
        self.seen += len(references)

    def compute(self):
        return {"accuracy": self.right / self.seen}


accelerator = Accelerator(cpu=True)
model = nn.Linear(12, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
train_dataloader = DataLoader(TensorDataset(x[:250], y[:250]), 32, shuffle=True)
eval_dataloader = DataLoader(TensorDataset(x[250:], y[250:]), 32)
model, optimizer, train_dataloader, eval_dataloader = accelerator.prepare(
    model, optimizer, train_dataloader, eval_dataloader
)
for epoch in range(3):
    model.train()
    for batch, labels in train_dataloader:
        loss = F.cross_entropy(model(batch), labels)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    metric = Accuracy()
    for batch, labels in eval_dataloader:
        with torch.no_grad():
            outputs = model(batch)
        predictions, references = accelerator.gather_for_metrics((outputs.argmax(dim=-1), labels))
        metric.add_batch(predictions, references)
    accelerator.print(f"epoch {epoch}:", metric.compute())
