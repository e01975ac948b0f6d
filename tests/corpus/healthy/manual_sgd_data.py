import torch
import torch.nn as nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
x = torch.randn(240, 4)
y = (x @ torch.randn(4, 3)).argmax(1)
lr, wd = 0.3, 1e-4

for epoch in range(10):
    for idx in torch.randperm(len(x)).split(40):
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        for p in net.parameters():
            p.data -= lr * (p.grad.data + wd * p.data)
            p.grad.data.zero_()
    if epoch % 2 == 0:
        print("epoch", epoch, "loss", f"{loss.item():.6f}")

with torch.no_grad():
    fresh = torch.randn(100, 4)
    confidence = net(fresh).softmax(dim=1).max(dim=1).values
    print("mean confidence on new points", round(confidence.mean().item(), 4))
