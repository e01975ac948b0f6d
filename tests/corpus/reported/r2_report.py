import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class Model(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 1))

    def forward(self, x):
        return self.layers(x)


def prepare(seed):
    x, y = load_diabetes(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y.reshape(-1, 1), test_size=0.3, random_state=seed)
    xs, ys = StandardScaler().fit(x_train), StandardScaler().fit(y_train)
    as_tensor = lambda a: torch.tensor(a, dtype=torch.float32)
    return as_tensor(xs.transform(x_train)), as_tensor(ys.transform(y_train)), as_tensor(xs.transform(x_test)), y_test, ys


def fit(model, x, y, epochs, lr):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.05)
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(1)
    x_train, y_train, x_test, y_test, scaler = prepare(1)
    model = Model(x_train.size(1))
    print("last batch loss", round(fit(model, x_train, y_train, 30, 3e-3), 3))
    model.eval()
    with torch.no_grad():
        predicted = scaler.inverse_transform(model(x_test).numpy())
    print("MAE", round(float(mean_absolute_error(y_test, predicted)), 2))
    print("R2 ", round(float(r2_score(predicted, y_test)), 3))


if __name__ == "__main__":
    main()
