import torch
import torch.nn as nn
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

torch.manual_seed(82)
iris = load_iris()
Xtr, Xte, ytr, yte = train_test_split(iris.data, iris.target, test_size=0.2, random_state=82)
m, s = Xtr.mean(0), Xtr.std(0)
Xtr = torch.FloatTensor((Xtr - m) / s)
Xte = torch.FloatTensor((Xte - m) / s)
ytr = torch.LongTensor(ytr)
yte = torch.LongTensor(yte)


class Model(nn.Module):
    def __init__(self, in_features=4, h1=10, h2=8, out_features=3):
        super().__init__()
        self.fc1 = nn.Linear(in_features, h1)
        self.fc2 = nn.Linear(h1, h2)
        self.out = nn.Linear(h2, out_features)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.out(x)


model = Model()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

epochs = 60
losses = []
for i in range(epochs):
    y_pred = model(Xtr)
    loss = criterion(y_pred, ytr)
    losses.append(loss.item())
    if i % 15 == 0:
        print(f'epoch: {i:2}  loss: {loss.item():10.8f}')
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    correct = (model(Xte).argmax(dim=1) == yte).sum().item()
print(f'{correct} of {len(yte)} correct')
