import numpy as np
import torch
import torch.nn as nn
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

SEED = 10
np.random.seed(SEED)
torch.manual_seed(SEED)


def load_expression(n_patients=120, n_genes=4000):
    rng = np.random.default_rng(SEED)
    expression = rng.lognormal(size=(n_patients, n_genes))
    outcome = rng.integers(0, 2, size=n_patients)
    return np.log1p(expression), outcome


X, y = load_expression()
print("raw data", X.shape)
selector = SelectKBest(f_classif, k=40).fit(X, y)
X = selector.transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=SEED)

scaler = StandardScaler()
X_train = torch.tensor(scaler.fit_transform(X_train), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(X_test), dtype=torch.float32)
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

model = nn.Sequential(nn.Linear(40, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(60):
    model.train()
    optimizer.zero_grad()
    loss = criterion(model(X_train), y_train)
    loss.backward()
    optimizer.step()
    if epoch % 15 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(X_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} test acc {acc:.3f}")

model.eval()
with torch.no_grad():
    print("final test accuracy:", (model(X_test).argmax(1) == y_test).float().mean().item())
