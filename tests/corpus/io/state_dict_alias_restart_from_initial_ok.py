import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(100)
t = torch.linspace(-3, 3, 200).unsqueeze(1)
signal = torch.sin(2 * t) + 0.3 * torch.cos(5 * t)
val_t = t[:-1] + 0.015
val_signal = torch.sin(2 * val_t) + 0.3 * torch.cos(5 * val_t)

net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
initial = {name: tensor.clone() for name, tensor in net.state_dict().items()}

results = {}
for lr in (1e-3, 3e-3, 1e-2):
    net.load_state_dict(initial)
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for step in range(40):
        opt.zero_grad()
        loss = F.mse_loss(net(t), signal)
        loss.backward()
        opt.step()
    with torch.no_grad():
        results[lr] = F.mse_loss(net(val_t), val_signal).item()
    print(f"lr {lr:g}: last train loss {loss.item():.6f} val {results[lr]:.6f}")

best = min(results, key=results.get)
print("best lr", best)
