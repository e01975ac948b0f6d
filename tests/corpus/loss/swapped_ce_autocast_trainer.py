import contextlib
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.fc2(torch.nn.functional.gelu(self.fc1(self.norm(x))))


class Trainer:
    def __init__(self, model, optimizer, use_amp=True):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model, self.optimizer = model.to(self.device), optimizer
        self.criterion = nn.CrossEntropyLoss()
        self.use_amp = use_amp

    def amp(self):
        if not self.use_amp:
            return contextlib.nullcontext()
        return torch.autocast(device_type=self.device, dtype=torch.bfloat16)

    def training_step(self, batch):
        features, labels = (t.to(self.device) for t in batch)
        with self.amp():
            logits = self.model(features)
            loss = self.criterion(labels, logits)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        hits = 0
        for features, labels in loader:
            hits += (self.model(features.to(self.device)).argmax(1).cpu() == labels).sum().item()
        self.model.train()
        return hits / len(loader.dataset)

    def fit(self, train_loader, val_loader, epochs):
        for epoch in range(epochs):
            losses = [self.training_step(batch) for batch in train_loader]
            print(f"epoch {epoch}: {sum(losses) / len(losses):.5f}  val {self.validate(val_loader):.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    digits = load_digits()
    full = TensorDataset(torch.tensor(digits.data[:600] / 16, dtype=torch.float32), torch.tensor(digits.target[:600]))
    train_set, val_set = random_split(full, [500, 100])
    model = nn.Sequential(nn.Linear(64, 32), ResidualBlock(32), ResidualBlock(32), nn.Linear(32, 10))
    trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=3e-3))
    trainer.fit(DataLoader(train_set, batch_size=50, shuffle=True), DataLoader(val_set, batch_size=50), epochs=5)
