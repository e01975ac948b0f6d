import torch

torch.manual_seed(0)

# synthetic data: y = Xw + b + noise
true_w = torch.tensor([2.0, -3.4])
true_b = 4.2
features = torch.randn(500, 2)
labels = features @ true_w + true_b + 0.01 * torch.randn(500)


def data_iter(batch_size, features, labels):
    indices = torch.randperm(len(features))
    for i in range(0, len(features), batch_size):
        j = indices[i:i + batch_size]
        yield features[j], labels[j]


def linreg(X, w, b):
    return X @ w + b


def squared_loss(y_hat, y):
    return (y_hat - y) ** 2 / 2


def sgd(params, lr, batch_size):
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad / batch_size
            param.grad.zero_()


w = torch.normal(0, 0.01, size=(2,), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr, num_epochs, batch_size = 0.03, 4, 20

for epoch in range(num_epochs):
    for X, y in data_iter(batch_size, features, labels):
        loss = squared_loss(linreg(X, w, b), y)
        loss.sum().backward()
        sgd([w, b], lr, batch_size)
    with torch.no_grad():
        train_l = squared_loss(linreg(features, w, b), labels).mean()
    print(f'epoch {epoch + 1}, loss {train_l.item():.6f}')
