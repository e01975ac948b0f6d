from torch import nn


class Encoder(nn.Module):
    def __init__(self, code=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, code), nn.ELU())

    def forward(self, x):
        return self.layers(x)


class AutoEncoder(nn.Module):
    def __init__(self, code=24):
        super().__init__()
        self.encoder = Encoder(code)
        self.decoder = nn.Sequential(nn.Linear(code, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Classifier(nn.Module):
    def __init__(self, encoder, code=24, classes=10):
        super().__init__()
        self.backbone = encoder
        self.fc = nn.Linear(code, classes)

    def forward(self, x):
        return self.fc(self.backbone(x))
