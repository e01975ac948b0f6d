import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

BATCH_SIZE = 64
EPOCHS = 8
LATENT_DIM = 5

torch.manual_seed(42)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dataset = torch.tensor(load_digits().data[:640] / 16.0, dtype=torch.float32)
dataloader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 40)
        self.mean = nn.Linear(40, LATENT_DIM)
        self.log_var = nn.Linear(40, LATENT_DIM)

    def forward(self, x):
        h = F.leaky_relu(self.fc(x), 0.2)
        return self.mean(h), self.log_var(h)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(LATENT_DIM, 40)
        self.out = nn.Linear(40, 64)

    def forward(self, z):
        return torch.sigmoid(self.out(F.leaky_relu(self.fc(z), 0.2)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()

    def draw_latent(self, mean, std):
        epsilon = torch.randn_like(std)
        return mean + std * epsilon

    def forward(self, x):
        mean, log_var = self.encoder(x)
        z = self.draw_latent(mean, log_var)
        return self.decoder(z), mean, log_var


def loss_function(x, x_hat, mean, log_var):
    recon_loss = F.binary_cross_entropy(x_hat, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return recon_loss + kld


model = Model().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(EPOCHS):
    loss_sum = 0.0
    for x in dataloader:
        x = x.to(device)
        x_hat, mean, log_var = model(x)
        loss = loss_function(x, x_hat, mean, log_var)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
    print("epoch", epoch + 1, "loss per image", round(loss_sum / len(dataset), 5))
