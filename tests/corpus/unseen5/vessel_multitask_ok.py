"""Multi-task vessel model: kind (classification), speed and draught (regression)."""
import torch
import torch.nn as nn

TASKS = {
    "kind": (3, nn.CrossEntropyLoss(), 1.0),
    "speed": (1, nn.SmoothL1Loss(), 1.0),
    "draught": (1, nn.SmoothL1Loss(), 0.5),
}


class VesselNet(nn.Module):
    def __init__(self, d_in=10, width=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, n) for name, (n, _, _) in TASKS.items()})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


def fleet(n, world):
    x = torch.randn(n, 10)
    kind = (x @ world["kind"]).argmax(1)
    speed = torch.tanh(x @ world["speed"]) + 0.1 * torch.randn(n, 1)
    draught = (x @ world["draught"]).abs() * 0.5 + 0.1 * torch.randn(n, 1)
    return x, {"kind": kind, "speed": speed, "draught": draught}


def train_step(model, opt, x, targets):
    out = model(x)
    loss = torch.zeros(())
    for name, (_, criterion, weight) in TASKS.items():
        loss = loss + weight * criterion(out[name], targets[name])
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


@torch.no_grad()
def report(model, x, targets):
    out = model(x)
    acc = (out["kind"].argmax(1) == targets["kind"]).float().mean().item()
    r2 = {k: 1 - ((out[k] - targets[k]) ** 2).mean().item() / targets[k].var().item() for k in ("speed", "draught")}
    return f"kind acc {acc:.3f} speed R2 {r2['speed']:.3f} draught R2 {r2['draught']:.3f}"


def main():
    torch.manual_seed(82)
    world = {"kind": torch.randn(10, 3), "speed": torch.randn(10, 1) * 0.5, "draught": torch.randn(10, 1)}
    x, y = fleet(1500, world)
    x_te, y_te = fleet(400, world)
    model = VesselNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(15):
        for idx in torch.randperm(len(x)).split(64):
            loss = train_step(model, opt, x[idx], {k: v[idx] for k, v in y.items()})
        if epoch % 5 == 4:
            print(f"epoch {epoch} loss {loss:.4f} {report(model, x_te, y_te)}")


if __name__ == "__main__":
    main()
