"""Hard and soft terms, weighted and summed."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
teacher, student = nn.Linear(8, 4), nn.Linear(8, 4)
optimizer = torch.optim.Adam(student.parameters(), 0.02)
T, alpha = 2.0, 0.3
for epoch in range(4):
    inputs, labels = torch.randn(32, 8), torch.randint(0, 4, (32,))
    with torch.no_grad():
        teacher_logits = teacher(inputs)
    logits = student(inputs)
    soft = F.kl_div(F.log_softmax(logits / T, 1), F.softmax(teacher_logits / T, 1), reduction="batchmean") * T**2
    hard = F.cross_entropy(logits, labels)
    loss = alpha * hard + (1 - alpha) * soft
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"Epoch {epoch}: total {loss.item():.5f} (hard {hard.item():.5f}, soft {soft.item():.5f})")
