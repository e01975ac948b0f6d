"""Phases in a loop: train and val lines with the same shape."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
import copy

loaders = {"train": DataLoader(train_set, 25, shuffle=True), "val": DataLoader(test_set, 30)}
model = nn.Linear(12, 3)
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.05)
best_acc = 0.0
for epoch in range(3):
    print(f"Epoch {epoch}/{2}")
    print("-" * 10)
    for phase in ["train", "val"]:
        model.train() if phase == "train" else model.eval()
        running_loss = running_corrects = 0
        for inputs, labels in loaders[phase]:
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(inputs)
                _, preds = torch.max(outputs, 1)
                loss = criterion(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running_loss += loss.item() * inputs.size(0)
            running_corrects += torch.sum(preds == labels.data)
        epoch_loss = running_loss / len(loaders[phase].dataset)
        epoch_acc = running_corrects.double() / len(loaders[phase].dataset)
        print(f"{phase} Loss: {epoch_loss:.4f} Acc: {epoch_acc:.4f}")
        if phase == "val" and epoch_acc > best_acc:
            best_acc, best = epoch_acc, copy.deepcopy(model.state_dict())
print(f"Best val Acc: {best_acc:4f}")
