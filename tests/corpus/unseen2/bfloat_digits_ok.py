import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def get_data():
    d = load_digits()
    g = torch.Generator().manual_seed(0)
    perm = torch.randperm(len(d.target), generator=g)
    x = torch.tensor(d.data / 16.0, dtype=torch.float32)[perm]
    y = torch.tensor(d.target)[perm]
    return TensorDataset(x[:1400], y[:1400]), TensorDataset(x[1400:], y[1400:])


def main():
    torch.manual_seed(12)
    train_ds, test_ds = get_data()
    model = nn.Sequential(nn.Linear(64, 96), nn.LayerNorm(96), nn.ReLU(), nn.Linear(96, 10))
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(6):
        model.train()
        total = 0.0
        for x, y in DataLoader(train_ds, batch_size=64, shuffle=True):
            opt.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x)
            loss = loss_fn(logits.float(), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(y)
        model.eval()
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            x, y = test_ds.tensors
            acc = (model(x).argmax(1) == y).float().mean().item()
        print(f"epoch {epoch} loss {total / len(train_ds):.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
