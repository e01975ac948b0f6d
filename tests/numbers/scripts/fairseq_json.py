"""fairseq: JSON lines and pipes."""

import json

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(20, 16), nn.Flatten(), nn.Linear(64, 20))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
updates = 0
for epoch in range(1, 3):
    for i in range(6):
        tokens = torch.randint(0, 20, (8, 4))
        loss = F.cross_entropy(model(tokens), tokens[:, 0])
        optimizer.zero_grad()
        loss.backward()
        gnorm = torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        updates += 1
        if updates % 3 == 0:
            print(
                json.dumps(
                    {
                        "epoch": epoch,
                        "update": updates / 6,
                        "loss": f"{loss.item():.3f}",
                        "ppl": f"{2 ** loss.item():.2f}",
                        "num_updates": str(updates),
                        "lr": "0.005",
                        "gnorm": f"{gnorm:.3f}",
                    }
                )
            )
    with torch.no_grad():
        tokens = torch.randint(0, 20, (40, 4))
        valid = F.cross_entropy(model(tokens), tokens[:, 0]).item()
    print(
        f"epoch {epoch:03d} | valid on 'valid' subset | loss {valid:.3f} | ppl {2**valid:.2f} | num_updates {updates}"
    )
