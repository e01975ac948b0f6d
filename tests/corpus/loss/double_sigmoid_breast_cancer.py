import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


def get_loaders(batch_size=32):
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    scaler = StandardScaler()
    X_train = scaler.fit_transform(X_train)
    X_val = scaler.transform(X_val)
    make = lambda a, b: TensorDataset(torch.FloatTensor(a), torch.FloatTensor(b).view(-1, 1))
    return (DataLoader(make(X_train, y_train), batch_size=batch_size, shuffle=True),
            DataLoader(make(X_val, y_val), batch_size=batch_size))


class TumorNet(nn.Module):
    def __init__(self, n_features):
        super(TumorNet, self).__init__()
        self.layer1 = nn.Linear(n_features, 16)
        self.layer2 = nn.Linear(16, 8)
        self.score = nn.Linear(8, 1)
        self.relu = nn.ReLU()

    def forward(self, inputs):
        x = self.relu(self.layer1(inputs))
        x = self.relu(self.layer2(x))
        x = torch.sigmoid(self.score(x))
        return x


def main():
    torch.manual_seed(42)
    train_loader, val_loader = get_loaders()
    model = TumorNet(30)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for e in range(1, 6):
        model.train()
        epoch_loss = 0
        for X_batch, y_batch in train_loader:
            optimizer.zero_grad()
            y_pred = model(X_batch)
            loss = criterion(y_pred, y_batch)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item()

        model.eval()
        val_loss = 0
        with torch.no_grad():
            for X_batch, y_batch in val_loader:
                val_loss += criterion(model(X_batch), y_batch).item()
        print(f'epoch {e:02}  train {epoch_loss/len(train_loader):.5f}  val {val_loss/len(val_loader):.5f}')


main()
