"""Softmax regression with a hand-written update."""
import torch
from sklearn.datasets import load_iris


def prepare(seed):
    x, y = load_iris(return_X_y=True)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    x = torch.tensor(x, dtype=torch.float32)[order]
    y = torch.tensor(y)[order]
    train_x, test_x = x[:110], x[110:]
    mean, std = train_x.mean(0), train_x.std(0)
    return (train_x - mean) / std, y[:110], (test_x - mean) / std, y[110:]


def negative_log_likelihood(scores, target):
    log_probabilities = scores - scores.logsumexp(dim=1, keepdim=True)
    return -log_probabilities[torch.arange(len(target)), target].mean()


def fit(x, y, rate=0.3, steps=120):
    weight = (0.01 * torch.randn(4, 3)).requires_grad_()
    bias = torch.zeros(3, requires_grad=True)
    for step in range(steps):
        loss = negative_log_likelihood(x @ weight + bias, y)
        loss.backward()
        for parameter in (weight, bias):
            parameter -= rate * parameter.grad
            parameter.grad.zero_()
        if step % 40 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    return weight.detach(), bias.detach()


def main():
    torch.manual_seed(17)
    train_x, train_y, test_x, test_y = prepare(17)
    weight, bias = fit(train_x, train_y)
    accuracy = ((test_x @ weight + bias).argmax(1) == test_y).float().mean().item()
    print(f"test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
