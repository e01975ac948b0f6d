"""A running loss every few batches; accuracy by class at the end."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
trainloader, testloader = DataLoader(train_set, 10, shuffle=True), DataLoader(test_set, 10)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(2):
    running_loss = 0.0
    for i, (inputs, labels) in enumerate(trainloader, 0):
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % 5 == 4:
            print(f"[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 5:.3f}")
            running_loss = 0.0
print("Finished Training")
classes = ("plane", "car", "bird")
correct_pred, total_pred = dict.fromkeys(classes, 0), dict.fromkeys(classes, 0)
with torch.no_grad():
    for images, labels in testloader:
        _, predictions = torch.max(net(images), 1)
        for label, prediction in zip(labels, predictions):
            correct_pred[classes[label]] += int(label == prediction)
            total_pred[classes[label]] += 1
for name, count in correct_pred.items():
    print(f"Accuracy for class: {name:5s} is {100 * float(count) / total_pred[name]:.1f} %")
