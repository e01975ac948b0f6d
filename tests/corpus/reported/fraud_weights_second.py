import torch
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def transactions():
    x, y = make_classification(n_samples=2000, n_features=14, n_informative=6, weights=[0.93], class_sep=0.8,
                               flip_y=0.01, random_state=87)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, stratify=y, random_state=87)
    scaler = StandardScaler().fit(x_train)
    to_tensor = lambda a: torch.tensor(a, dtype=torch.float32)
    return (to_tensor(scaler.transform(x_train)), to_tensor(y_train)), (to_tensor(scaler.transform(x_test)), y_test)


def class_weight(labels):
    positives = labels.sum()
    negatives = len(labels) - positives
    pos_weight = positives / negatives
    return pos_weight


def main():
    torch.manual_seed(87)
    (x_train, y_train), (x_test, y_test) = transactions()
    loader = DataLoader(TensorDataset(x_train, y_train), batch_size=70, shuffle=True)
    model = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, 1))
    criterion = nn.BCEWithLogitsLoss(pos_weight=class_weight(y_train))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        predicted = (model(x_test).squeeze(1) > 0).long().numpy()
    print(f"recall {recall_score(y_test, predicted):.3f}")
    print(f"balanced accuracy {balanced_accuracy_score(y_test, predicted):.3f}")


if __name__ == "__main__":
    main()
