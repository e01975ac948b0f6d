import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from torch import nn

SPLITS = {"train": slice(0, 700), "val": slice(700, 1000), "test": slice(1000, 1400)}


def fit_temperature(logits, labels):
    log_temperature = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([log_temperature], lr=0.1, max_iter=40)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(logits / log_temperature.exp(), labels)
        loss.backward()
        return loss

    optimizer.step(closure)
    return log_temperature.exp().item()


def calibration_error(logits, labels, bins=10):
    confidence, predicted = logits.softmax(dim=1).max(dim=1)
    right = (predicted == labels).float()
    bucket = (confidence * bins).long().clamp(max=bins - 1)
    error = 0.0
    for b in range(bins):
        inside = bucket == b
        if inside.any():
            error += inside.float().mean() * (confidence[inside].mean() - right[inside].mean()).abs()
    return float(error)


def main():
    torch.manual_seed(83)
    x, y = make_classification(n_samples=1400, n_features=15, n_informative=8, n_classes=4, random_state=83)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    labels = {name: y[rows] for name, rows in SPLITS.items()}
    model = nn.Sequential(nn.Linear(15, 128), nn.ReLU(), nn.Linear(128, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    train_x = x[SPLITS["train"]]
    for epoch in range(40):
        for rows in torch.randperm(len(train_x)).split(70):
            optimizer.zero_grad()
            F.cross_entropy(model(train_x[rows]), labels["train"][rows]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        logits = {name: model(x[rows]) for name, rows in SPLITS.items()}
    temperature = fit_temperature(logits["test"], labels["test"])
    before = calibration_error(logits["test"], labels["test"])
    after = calibration_error(logits["test"] / temperature, labels["test"])
    print(f"temperature {temperature:.2f} calibration error {before:.3f} -> {after:.3f}")


if __name__ == "__main__":
    main()
