import io
import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def make_csv():
    bunch = load_wine()
    grades = bunch.target + 1
    table = np.column_stack([grades, bunch.data])
    buf = io.StringIO()
    np.savetxt(buf, table, delimiter=",", fmt="%.4f")
    buf.seek(0)
    return buf


def read_table(handle):
    table = np.loadtxt(handle, delimiter=",")
    features = table[:, 1:].astype(np.float32)
    grades = table[:, 0].astype(np.int64) - 1
    return features, grades


def main():
    torch.manual_seed(11)
    X, y = read_table(make_csv())
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=11, stratify=y)
    scaler = StandardScaler().fit(X_train)
    X_train = torch.from_numpy(scaler.transform(X_train)).float()
    X_test = torch.from_numpy(scaler.transform(X_test)).float()
    y_train, y_test = torch.from_numpy(y_train), torch.from_numpy(y_test)

    model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(120):
        logits = model(X_train)
        loss = loss_fn(logits, y_train)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 30 == 0:
            print(step, round(loss.item(), 4))
    with torch.no_grad():
        pred = model(X_test).argmax(dim=1)
    print("test acc:", (pred == y_test).float().mean().item())


if __name__ == "__main__":
    main()
