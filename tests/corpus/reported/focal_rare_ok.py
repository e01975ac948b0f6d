import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, alpha=None):
        super().__init__()
        self.gamma = gamma
        self.register_buffer("alpha", alpha)

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction="none")
        pt = torch.exp(-ce)
        focal = (1 - pt) ** self.gamma * ce
        if self.alpha is not None:
            focal = self.alpha[target] * focal
        return focal.mean()


class Net(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.fc1 = nn.Linear(inputs, 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def get_data():
    x, y = make_classification(
        2400, 12, n_informative=6, n_classes=3, weights=[0.86, 0.09, 0.05], class_sep=0.9, random_state=4
    )
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    return x[:1800], y[:1800], x[1800:], y[1800:]


def main():
    torch.manual_seed(4)
    x_train, y_train, x_test, y_test = get_data()
    model = Net(12, 3)
    criterion = FocalLoss(gamma=2.0, alpha=torch.tensor([0.2, 0.8, 1.0]))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(15):
        model.train()
        for idx in torch.randperm(len(x_train)).split(90):
            optimizer.zero_grad()
            loss = criterion(model(x_train[idx]), y_train[idx])
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            model.eval()
            with torch.no_grad():
                predicted = model(x_test).argmax(dim=1)
            score = balanced_accuracy_score(y_test, predicted)
            print(f"epoch {epoch + 1} loss {loss.item():.4f} balanced accuracy {score:.3f}")


if __name__ == "__main__":
    main()
