import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
scaler = StandardScaler().fit(X_train)
train_ds = TensorDataset(torch.tensor(scaler.transform(X_train)).float(), torch.tensor(y_train).float())
X_val, y_val = torch.tensor(scaler.transform(X_val)).float(), torch.tensor(y_val).float()

loader = DataLoader(train_ds, batch_size=8, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
accum_iter = 4

for epoch in range(3):
    model.train()
    running = 0.0
    for batch_idx, (inputs, labels) in enumerate(loader):
        outputs = model(inputs).squeeze(1)
        loss = criterion(outputs, labels) / accum_iter
        optimizer.zero_grad()
        loss.backward()
        running += loss.item() * accum_iter
        if (batch_idx + 1) % accum_iter == 0:
            optimizer.step()

    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(X_val).squeeze(1), y_val)
    print(f"epoch {epoch + 1}: train {running / len(loader):.5f} val {val_loss.item():.5f}")
