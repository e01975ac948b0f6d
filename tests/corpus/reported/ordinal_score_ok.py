import torch
import torch.nn.functional as F
from torch import nn, optim

torch.manual_seed(12)
LEVELS = 5


def questionnaires(n, generator):
    answers = torch.randn(n, 8, generator=generator)
    weights = torch.linspace(-1, 1, 8)
    raw = answers @ weights + 0.2 * torch.randn(n, generator=generator)
    grade = torch.bucketize(raw, torch.tensor([-2.0, -0.7, 0.7, 2.0]))
    return answers, grade


def predicted_grade(logits):
    return logits.softmax(dim=1) @ torch.arange(LEVELS, dtype=torch.float32)


def distance_loss(logits, grade):
    return F.smooth_l1_loss(predicted_grade(logits), grade.float())


def evaluate(model, answers, grade):
    model.eval()
    with torch.no_grad():
        error = (predicted_grade(model(answers)).round() - grade).abs().mean()
    model.train()
    return error.item()


generator = torch.Generator().manual_seed(12)
train_x, train_y = questionnaires(800, generator)
test_x, test_y = questionnaires(200, generator)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, LEVELS))
optimizer = optim.Adam(model.parameters(), lr=0.01)

for epoch in range(6):
    order = torch.randperm(len(train_x))
    for chunk in order.split(80):
        optimizer.zero_grad()
        loss = distance_loss(model(train_x[chunk]), train_y[chunk])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} error {evaluate(model, test_x, test_y):.3f}")
