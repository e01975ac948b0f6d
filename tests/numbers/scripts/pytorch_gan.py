"""Two optimizers, brackets around everything."""

import torch
from torch import nn

torch.manual_seed(0)
generator, discriminator = nn.Linear(3, 5), nn.Sequential(nn.Linear(5, 1), nn.Sigmoid())
adversarial_loss = nn.BCELoss()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.01)
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.01)
for epoch in range(2):
    for i in range(5):
        valid, fake = torch.ones(8, 1), torch.zeros(8, 1)
        optimizer_G.zero_grad()
        gen_imgs = generator(torch.randn(8, 3))
        g_loss = adversarial_loss(discriminator(gen_imgs), valid)
        g_loss.backward()
        optimizer_G.step()
        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(torch.randn(8, 5) + 1), valid)
        d_loss = (real_loss + adversarial_loss(discriminator(gen_imgs.detach()), fake)) / 2
        d_loss.backward()
        optimizer_D.step()
        print("[Epoch %d/%d] [Batch %d/%d] [D loss: %f] [G loss: %f]" % (epoch, 2, i, 5, d_loss.item(), g_loss.item()))
