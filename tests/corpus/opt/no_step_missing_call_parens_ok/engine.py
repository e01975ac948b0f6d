import torch
import torch.nn.functional as F


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    seen, loss_sum, hits = 0, 0.0, 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            seen += len(y)
            loss_sum += loss.item() * len(y)
            hits += (logits.argmax(1) == y).sum().item()
    return loss_sum / seen, hits / seen
