import torch
import torch.nn as nn

torch.manual_seed(2)

model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
x = torch.linspace(-2, 2, 200).unsqueeze(1)
y = torch.sin(2 * x) + 0.05 * torch.randn_like(x)

learning_rate = 0.1
for t in range(100):
    y_pred = model(x)
    loss = (y_pred - y).pow(2).mean()
    if t % 20 == 0:
        print(t, f"{loss.item():.6f}")

    model.zero_grad()
    loss.backward()

    with torch.no_grad():
        for param in model.parameters():
            param = param - learning_rate * param.grad

with torch.no_grad():
    grid = torch.tensor([[-1.0], [0.0], [1.0]])
    print("fit at -1, 0, 1:", [round(v, 4) for v in model(grid).flatten().tolist()])
