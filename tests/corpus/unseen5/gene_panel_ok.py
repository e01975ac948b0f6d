"""Predict therapy response from expression levels of many genes."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split

SEED = 12
N_PATIENTS, N_GENES, N_KEEP = 120, 2000, 20


def cohort(rng):
    response = rng.integers(0, 2, N_PATIENTS)
    expr = rng.normal(size=(N_PATIENTS, N_GENES)).astype(np.float32)
    expr[:, :6] += 0.9 * response[:, None]
    return expr, response


def standardise(train, test):
    mu, sd = train.mean(0), train.std(0) + 1e-6
    return (train - mu) / sd, (test - mu) / sd


def fit_classifier(x, y, epochs=60):
    net = nn.Sequential(nn.Linear(x.shape[1], 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=1e-3)
    net.train()
    for _ in range(epochs):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    net.eval()
    return net


def main():
    rng = np.random.default_rng(SEED)
    torch.manual_seed(SEED)
    expr, response = cohort(rng)
    x_tr, x_te, y_tr, y_te = train_test_split(expr, response, test_size=0.4, random_state=SEED, stratify=response)
    selector = SelectKBest(f_classif, k=N_KEEP).fit(x_tr, y_tr)
    x_tr, x_te = selector.transform(x_tr), selector.transform(x_te)
    x_tr, x_te = standardise(x_tr, x_te)
    x_tr, x_te = torch.from_numpy(x_tr), torch.from_numpy(x_te)
    y_tr, y_te = torch.from_numpy(y_tr), torch.from_numpy(y_te)
    net = fit_classifier(x_tr, y_tr)
    with torch.no_grad():
        print("train accuracy", (net(x_tr).argmax(1) == y_tr).float().mean().item())
        print("test accuracy", (net(x_te).argmax(1) == y_te).float().mean().item())


if __name__ == "__main__":
    main()
