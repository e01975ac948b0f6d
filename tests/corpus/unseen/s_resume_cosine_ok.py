import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

EPOCHS = 16
ckpt_path = os.path.join(tempfile.mkdtemp(), "last.pt")
digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target)
torch.manual_seed(0)
y_noisy = torch.where(torch.rand(len(y)) < 0.25, torch.randint(0, 10, (len(y),)), y)
X_train, y_train, X_val, y_val = X[:1200], y_noisy[:1200], X[1200:], y[1200:]


def build():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=EPOCHS)
    return model, opt, sched


def save(epoch, model, opt, sched):
    torch.save({"epoch": epoch, "model": model.state_dict(), "opt": opt.state_dict(),
                "sched": sched.state_dict()}, ckpt_path)


def load():
    model, opt, sched = build()
    ckpt = torch.load(ckpt_path)
    model.load_state_dict(ckpt["model"])
    opt.load_state_dict(ckpt["opt"])
    sched.load_state_dict(ckpt["sched"])
    return ckpt["epoch"] + 1, model, opt, sched


def run(model, opt, sched, start, stop):
    for epoch in range(start, stop):
        model.train()
        for idx in torch.randperm(len(X_train)).split(60):
            opt.zero_grad()
            loss = F.cross_entropy(model(X_train[idx]), y_train[idx])
            loss.backward()
            opt.step()
        sched.step()
        save(epoch, model, opt, sched)
        model.eval()
        with torch.no_grad():
            out = model(X_val)
            val = F.cross_entropy(out, y_val).item()
            acc = (out.argmax(1) == y_val).float().mean().item()
        print(f"epoch {epoch} lr {sched.get_last_lr()[0]:.5f} val loss {val:.4f} acc {acc:.4f}")


run(*build(), 0, 10)
start, model, opt, sched = load()
print("resumed at epoch", start)
run(model, opt, sched, start, EPOCHS)
