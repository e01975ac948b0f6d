import torch

from moe import MixtureOfExperts

torch.manual_seed(31)
x = torch.rand(512, 2) * 4 - 2
y = torch.where(x[:, :1] > 0, torch.sin(3 * x[:, 1:]), x[:, 1:] ** 2 / 2)
x_val, y_val, x, y = x[:112], y[:112], x[112:], y[112:]

model = MixtureOfExperts(n_in=2, n_out=1, n_experts=3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(1, 101):
    batch = torch.randint(0, len(x), (64,))
    model.train()
    pred, _ = model(x[batch])
    loss = torch.nn.functional.mse_loss(pred, y[batch])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        model.eval()
        with torch.no_grad():
            pred, gates = model(x_val)
            val = torch.nn.functional.mse_loss(pred, y_val)
        print(f"step {step:3d} train {loss.item():.5f} val {val.item():.5f} busiest expert {gates.mean(0).max().item():.3f}")
