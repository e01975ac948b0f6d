import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

# concentric rings
n = 600
radius = torch.randint(1, 4, (n,))
angle = torch.rand(n) * 6.2832
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1) + 0.15 * torch.randn(n, 2)
dataset = TensorDataset(points, radius - 1)
trainset, testset = random_split(dataset, [480, 120])
trainloader = DataLoader(trainset, batch_size=32, shuffle=True)
testloader = DataLoader(testset, batch_size=32, shuffle=False)

net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
net.to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=0.01)

for epoch in range(5):
    running_loss = 0.0
    net.train()
    for inputs, labels in trainloader:
        inputs = inputs.to(device)
        labels = labels.to(device)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(f"[{epoch + 1}] loss: {running_loss / len(trainloader):.5f}")

correct = 0
net.eval()
with torch.no_grad():
    for inputs, labels in testloader:
        outputs = net(inputs.to(device))
        correct += (outputs.argmax(1) == labels.to(device)).sum().item()
print(f"accuracy on {len(testset)} points: {correct / len(testset):.4f}")
