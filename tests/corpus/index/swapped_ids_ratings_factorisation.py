import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(70)
n_users, n_movies, k = 80, 25, 6


class MF(nn.Module):
    def __init__(self, n_users, n_movies, k):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, k)
        self.movie_factors = nn.Embedding(n_movies, k)
        self.user_bias = nn.Embedding(n_users, 1)
        self.movie_bias = nn.Embedding(n_movies, 1)
        for e in (self.user_factors, self.movie_factors):
            nn.init.normal_(e.weight, std=0.1)

    def forward(self, user, movie):
        dot = (self.user_factors(user) * self.movie_factors(movie)).sum(1)
        return dot + self.user_bias(user).squeeze(1) + self.movie_bias(movie).squeeze(1)


u_true, m_true = torch.randn(n_users, 3), torch.randn(n_movies, 3)
users = torch.randint(0, n_users, (1200,))
movies = torch.randint(0, n_movies, (1200,))
ratings = (u_true[users] * m_true[movies]).sum(1) / 3 ** 0.5
loader = DataLoader(TensorDataset(users, movies, ratings), batch_size=100, shuffle=True)

model = MF(n_users, n_movies, k)
opt = torch.optim.Adam(model.parameters(), lr=0.03)
for epoch in range(8):
    se, n = 0.0, 0
    for user, movie, rating in loader:
        pred = model(movie, user)
        loss = nn.functional.mse_loss(pred, rating)
        opt.zero_grad()
        loss.backward()
        opt.step()
        se += loss.item() * len(rating)
        n += len(rating)
    print(f"epoch {epoch}: rmse {(se / n) ** 0.5:.6f}")
