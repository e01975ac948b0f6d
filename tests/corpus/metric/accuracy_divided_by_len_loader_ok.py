import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
X, y = load_iris(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
centre = X_train.mean(0)
as_set = lambda a, b: TensorDataset(torch.tensor(a - centre, dtype=torch.float32), torch.tensor(b))
train_dataloader = DataLoader(as_set(X_train, y_train), batch_size=15, shuffle=True)
test_dataloader = DataLoader(as_set(X_test, y_test), batch_size=15)


def train(dataloader, model, loss_fn, optimizer):
    model.train()
    for X, y in dataloader:
        pred = model(X)
        loss = loss_fn(pred, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def test(dataloader, model, loss_fn):
    size = len(dataloader.dataset)
    num_batches = len(dataloader)
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(torch.float).sum().item()
    test_loss /= num_batches
    accuracy = correct / size
    return {"loss": test_loss, "accuracy": accuracy}


model = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 3))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
history = []
for t in range(10):
    train(train_dataloader, model, loss_fn, optimizer)
    history.append(test(test_dataloader, model, loss_fn))
    print(f"Epoch {t + 1}: Avg loss: {history[-1]['loss']:>8f}, Accuracy: {history[-1]['accuracy']:.4f}")
