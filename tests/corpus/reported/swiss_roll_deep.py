import torch
from sklearn.datasets import make_swiss_roll
from torch import nn


class DeepRegressor(nn.Module):
    def __init__(self, inputs, width=16, depth=5):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width)] * depth)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(depth)])
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        for layer, norm in zip(self.hidden, self.norms):
            x = x + torch.tanh(layer(norm(x)))
        return self.last(x).squeeze(1)


def get_data(seed):
    x, t = make_swiss_roll(1000, noise=0.2, random_state=seed)
    x, t = torch.tensor(x, dtype=torch.float32), torch.tensor(t, dtype=torch.float32)
    x_mean, x_std, t_mean, t_std = x[:750].mean(0), x[:750].std(0), t[:750].mean(), t[:750].std()
    x, t = (x - x_mean) / x_std, (t - t_mean) / t_std
    return x[:750], t[:750], x[750:], t[750:]


def main():
    torch.manual_seed(2)
    x_train, y_train, x_test, y_test = get_data(2)
    model = DeepRegressor(3)
    print("layers", len(model.hidden) + 2, "parameters", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(1, 25):
        model.train()
        for idx in torch.randperm(len(x_train)).split(50):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x_train[idx]), y_train[idx])
            loss.backward()
            optimizer.step()
        if epoch % 8 == 0:
            model.eval()
            with torch.no_grad():
                test = nn.functional.mse_loss(model(x_test), y_test).item()
            print(f"epoch {epoch} train {loss.item():.4f} test {test:.4f}")


if __name__ == "__main__":
    main()
