import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


def make_pictures(n, rng):
    """RGB pictures, height x width x channel as image libraries give them: which corner holds the blob?"""
    img = rng.normal(0.0, 0.25, size=(n, 12, 16, 3)).astype(np.float32)
    label = rng.integers(0, 4, size=n)
    for k in range(n):
        r, c = divmod(int(label[k]), 2)
        img[k, r * 6:r * 6 + 6, c * 8:c * 8 + 8, rng.integers(0, 3)] += 0.8
    return img, label.astype(np.int64)


def to_nchw(img):
    t = torch.from_numpy(img)
    n, h, w, c = t.shape
    return t.view(n, c, h, w)


def build_model():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Linear(64, 4),
    )


def evaluate(model, loader):
    model.eval()
    good = total = 0
    with torch.no_grad():
        for x, y in loader:
            good += int((model(x).argmax(1) == y).sum())
            total += len(y)
    return good / total


def main():
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    (tr_x, tr_y), (te_x, te_y) = make_pictures(384, rng), make_pictures(128, rng)
    train = DataLoader(TensorDataset(to_nchw(tr_x), torch.from_numpy(tr_y)), batch_size=32, shuffle=True)
    test = DataLoader(TensorDataset(to_nchw(te_x), torch.from_numpy(te_y)), batch_size=64)
    model = build_model()
    opt = optim.AdamW(model.parameters(), lr=3e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(3):
        model.train()
        losses = []
        for x, y in train:
            opt.zero_grad(set_to_none=True)
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print("epoch", epoch, "loss", round(float(np.mean(losses)), 5), "test acc", round(evaluate(model, test), 3))


main()
