import numpy as np
import torch
import torch.nn as nn
from sklearn.preprocessing import LabelEncoder

torch.manual_seed(48)
rng = np.random.default_rng(48)
CROPS = np.array(["barley", "maize", "oats", "rye", "wheat"])
centers = rng.normal(size=(5, 8)) * 2


def survey(n, crops):
    which = rng.choice(crops, size=n)
    x = centers[which] + rng.normal(size=(n, 8))
    return x.astype(np.float32), CROPS[which]


X_train, names_train = survey(800, [0, 1, 2, 3, 4])
X_test, names_test = survey(200, [1, 2, 3, 4])

encoder = LabelEncoder()
y_train = torch.from_numpy(encoder.fit_transform(names_train)).long()
y_test = torch.from_numpy(encoder.transform(names_test)).long()
X_train, X_test = torch.from_numpy(X_train), torch.from_numpy(X_test)

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(12):
    model.train()
    for idx in torch.randperm(len(X_train)).split(40):
        optimizer.zero_grad()
        loss = criterion(model(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        tr = (model(X_train).argmax(1) == y_train).float().mean().item()
        te = (model(X_test).argmax(1) == y_test).float().mean().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {loss.item():.4f} train acc {tr:.3f} test acc {te:.3f}")
