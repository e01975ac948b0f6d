import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits

from nets import AutoEncoder, Classifier, Encoder

torch.manual_seed(4)
digits = load_digits()
x = torch.tensor(digits.data, dtype=torch.float32) / 16
y = torch.tensor(digits.target)
unlabelled, labelled, test = x[:1200], slice(1200, 1350), slice(1350, None)


def pretrain(epochs=20):
    model = AutoEncoder()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        for rows in torch.randperm(len(unlabelled)).split(80):
            batch = unlabelled[rows]
            loss = F.binary_cross_entropy_with_logits(model(batch), batch)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"autoencoder {epoch} bce {loss.item():.5f}")
    torch.save({"model": model.state_dict(), "epochs": epochs}, "autoencoder.pth")


def classify(epochs=8):
    checkpoint = torch.load("autoencoder.pth", weights_only=True)["model"]
    encoder = Encoder()
    encoder.load_state_dict({k[len("encoder."):]: v for k, v in checkpoint.items() if k.startswith("encoder.")})
    model = Classifier(encoder)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        model.train()
        for rows in torch.randperm(150).split(30):
            loss = F.cross_entropy(model(x[labelled][rows]), y[labelled][rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(x[test]).argmax(1) == y[test]).float().mean().item()
        print(f"classifier {epoch} loss {loss.item():.5f} test acc {acc:.4f}")


if __name__ == "__main__":
    pretrain()
    classify()
