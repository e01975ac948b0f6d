import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

SEED = 31


def fetch():
    X, y = make_classification(n_samples=3000, n_features=16, n_informative=6, weights=[0.75, 0.25],
                               flip_y=0.08, class_sep=0.7, random_state=SEED)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=SEED)
    sc = StandardScaler().fit(X_tr)
    return sc.transform(X_tr), sc.transform(X_te), y_tr, y_te


def train_model(X, y, epochs=12):
    model = nn.Sequential(nn.Linear(X.shape[1], 24), nn.ReLU(), nn.Linear(24, 1))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    X, y = torch.tensor(X).float(), torch.tensor(y).float()
    for epoch in range(epochs):
        losses = []
        for idx in torch.randperm(len(X)).split(64):
            opt.zero_grad()
            loss = criterion(model(X[idx]).squeeze(1), y[idx])
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")
    return model


def predict(model, X):
    model.eval()
    with torch.no_grad():
        scores = model(torch.tensor(X).float()).squeeze(1)
    return (scores > 0.5).long().numpy()


torch.manual_seed(SEED)
X_train, X_test, y_train, y_test = fetch()
clf = train_model(X_train, y_train)
pred = predict(clf, X_test)
print("accuracy", round(float((pred == y_test).mean()), 4))
print("recall  ", round(recall_score(y_test, pred), 4))
print("f1      ", round(f1_score(y_test, pred), 4))
