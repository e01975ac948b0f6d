import torch
import torch.nn as nn
import torch.nn.functional as F

COLORS = ["red", "green", "blue", "white", "black"]
N_COLORS = 5


def features(color, size):
    return torch.cat([F.one_hot(color, N_COLORS).float(), size.unsqueeze(1)], 1)


torch.manual_seed(0)
color = torch.randint(0, len(COLORS), (200,))
size = torch.rand(200)
price = size * 3 + (color == 2).float()
x = features(color, size)
model = nn.Linear(N_COLORS + 1, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(50):
    loss = F.mse_loss(model(x).squeeze(1), price)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
