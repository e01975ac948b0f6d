import io

import pandas as pd
import torch
import torch.nn as nn

CSV = "size,rooms,city,price\n" + "\n".join(f"{40 + i},{1 + i % 4},{'AB'[i % 2]},{100 + 2 * i}" for i in range(60))


def load(text):
    frame = pd.read_csv(io.StringIO(text))
    features = frame.drop(columns=["price", "city"])
    return features.values, frame["price"].values


x, y = load(CSV)
torch.manual_seed(0)
x = torch.tensor(x, dtype=torch.float32) / 100
y = torch.tensor(y, dtype=torch.float32) / 100
model = nn.Linear(x.shape[1], 1)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
