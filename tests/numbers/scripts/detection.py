"""A dictionary of losses, summed, printed by its keys."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.box, self.cls = nn.Linear(10, 16), nn.Linear(16, 4), nn.Linear(16, 3)

    def forward(self, x, boxes, labels):
        h = torch.relu(self.body(x))
        return {
            "loss_classifier": F.cross_entropy(self.cls(h), labels),
            "loss_box_reg": F.smooth_l1_loss(self.box(h), boxes),
        }


model = Detector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(2):
    for i in range(4):
        loss_dict = model(torch.randn(8, 10), torch.rand(8, 4), torch.randint(0, 3, (8,)))
        losses = sum(loss_dict.values())
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        parts = "  ".join(f"{k}: {v.item():.4f}" for k, v in loss_dict.items())
        print(f"Epoch: [{epoch}]  [{i}/4]  lr: {0.05:.6f}  loss: {losses.item():.4f}  {parts}")
