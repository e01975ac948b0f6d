import torch
import torch.nn as nn
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

torch.manual_seed(8)
X, y = load_iris(return_X_y=True)
tr, te = next(StratifiedShuffleSplit(1, test_size=0.3, random_state=8).split(X, y))
sc = StandardScaler().fit(X[tr])
xt, xe = (torch.tensor(sc.transform(X[i]), dtype=torch.float32) for i in (tr, te))
yt, ye = torch.tensor(y[tr]), torch.tensor(y[te])
model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 3))
train_loss = nn.CrossEntropyLoss(label_smoothing=0.1)
eval_loss = nn.CrossEntropyLoss()
opt = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.03, total_steps=150)
for step in range(150):
    opt.zero_grad(set_to_none=True)
    loss = train_loss(model(xt), yt)
    loss.backward()
    opt.step()
    sched.step()
    if step % 30 == 29:
        with torch.no_grad():
            out = model(xe)
        print(f"{step + 1}: smoothed {loss.item():.3f} plain test {eval_loss(out, ye).item():.3f} "
              f"acc {(out.argmax(1) == ye).float().mean().item():.3f}")
