import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Config:
    epochs = 6
    batch_size = 64
    lr = 4e-3
    warmup_steps = 200
    seed = 0


def lr_factor(step):
    if step < Config.warmup_steps:
        return (step + 1) // Config.warmup_steps
    return (Config.warmup_steps / (step + 1)) ** 0.5


def build_model():
    return nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.GELU(), nn.Linear(128, 10))


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(-1) == y).float().mean().item()


def run(cfg):
    torch.manual_seed(cfg.seed)
    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x / 16.0, y, test_size=0.2, random_state=cfg.seed)
    x_train, x_test = torch.tensor(x_train).float(), torch.tensor(x_test).float()
    y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-2)
    scheduler = LambdaLR(optimizer, lr_factor)
    for epoch in range(cfg.epochs):
        model.train()
        for idx in torch.randperm(len(x_train)).split(cfg.batch_size):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x_train[idx]), y_train[idx])
            loss.backward()
            optimizer.step()
            scheduler.step()
        val_loss, val_acc = evaluate(model, x_test, y_test)
        print(f"[{epoch + 1}/{cfg.epochs}] train {loss.item():.3f} val {val_loss:.3f} acc {val_acc:.3f}")


if __name__ == "__main__":
    run(Config)
