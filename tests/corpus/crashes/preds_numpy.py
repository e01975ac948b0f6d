import numpy as np
import torch
from sklearn.metrics import accuracy_score
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).float()
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    scores, truths = [], []
    for rows in torch.randperm(400).split(40):
        logit = model(x[rows]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(logit, y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        scores.append(logit)
        truths.append(y[rows])
    scores = torch.cat(scores).numpy()
    truths = torch.cat(truths).numpy()
    print(epoch, accuracy_score(truths > 0.5, scores > 0))
print(np.mean(scores))
