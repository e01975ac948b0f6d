"""OpenMMLab: a logger with a date, an epoch in brackets and pairs with commas."""

import logging
import sys

import torch
from torch import nn
from torch.nn import functional as F

logging.basicConfig(
    stream=sys.stdout, level=logging.INFO, format="2024-05-01 10:11:12,345 - mmdet - %(levelname)s - %(message)s"
)
logger = logging.getLogger()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 7))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(2):
    for i in range(10):
        x = torch.randn(16, 8)
        out = model(x)
        losses = {
            "loss_cls": F.cross_entropy(out[:, 4:], (x[:, 0] > 0).long()),
            "loss_bbox": F.l1_loss(out[:, :4], x[:, :4]),
        }
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (i + 1) % 5 == 0:
            parts = ", ".join(f"{k}: {v.item():.4f}" for k, v in losses.items())
            logger.info(
                f"Epoch [{epoch + 1}][{i + 1}/10]\tlr: 2.000e-02, eta: 0:00:12, time: 0.132, data_time: 0.021, memory: 512, {parts}, loss: {loss.item():.4f}"
            )
    logger.info(f"Epoch(val) [{epoch + 1}][16]\tbbox_mAP: {0.1 + epoch / 10:.4f}, bbox_mAP_50: {0.25 + epoch / 10:.4f}")
