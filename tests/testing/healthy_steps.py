"""Small tests as people write them, all of sound code: none may raise an alarm. Run by test_plugin.py."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

pytestmark = pytest.mark.stepscope


class Net(nn.Module):
    def __init__(self, drop=0.1):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(drop)
        self.fc = nn.Linear(4 * 8 * 8, 10)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))
        return self.fc(self.drop(x.flatten(1)))


@pytest.fixture
def net():
    return Net()


@pytest.fixture(scope="module")
def shared_net():
    return Net()


def batch(n=4):
    return torch.randn(n, 1, 8, 8), torch.randint(0, 10, (n,))


def test_output_shape(net):
    x, _ = batch()
    assert net(x).shape == (4, 10)


def test_eval_output_is_the_same_twice(net):
    x, _ = batch()
    net.eval()
    assert torch.equal(net(x), net(x))


def test_gradients_reach_everything(net):
    x, y = batch()
    F.cross_entropy(net(x), y).backward()
    assert all(p.grad is not None for p in net.parameters())


def test_one_step_changes_parameters(net):
    x, y = batch()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    before = copy.deepcopy(net.state_dict())
    F.cross_entropy(net(x), y).backward()
    opt.step()
    assert not torch.equal(before["fc.weight"], net.state_dict()["fc.weight"])


def test_overfit_one_batch(net):
    x, y = batch(8)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(30):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    assert loss < 1


def test_loader_epoch(net):
    x, y = batch(16)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for a, b in DataLoader(TensorDataset(x, y), batch_size=4):
        opt.zero_grad()
        F.cross_entropy(net(a), b).backward()
        opt.step()


def test_accumulation(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    opt.zero_grad()
    for _ in range(4):
        x, y = batch()
        (F.cross_entropy(net(x), y) / 4).backward()
    opt.step()


def test_frozen(net):
    for p in net.conv.parameters():
        p.requires_grad_(False)
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01)
    x, y = batch()
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    assert net.conv.weight.grad is None


def test_scheduler(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1)
    x, y = batch()
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    sched.step()
    assert opt.param_groups[0]["lr"] == pytest.approx(0.01)


def test_save_load(net, tmp_path):
    torch.save(net.state_dict(), tmp_path / "a.pt")
    other = Net()
    other.load_state_dict(torch.load(tmp_path / "a.pt", weights_only=True))
    assert torch.equal(other.fc.weight, net.fc.weight)


def test_train_shared(shared_net):
    x, y = batch()
    opt = torch.optim.SGD(shared_net.parameters(), lr=0.01)
    for _ in range(5):
        opt.zero_grad()
        F.cross_entropy(shared_net(x), y).backward()
        opt.step()


def test_eval_shared(shared_net):
    shared_net.eval()
    with torch.no_grad():
        x, y = batch()
        (shared_net(x).argmax(1) == y).float().mean()


def test_train_shared_again(shared_net):
    shared_net.train()
    x, y = batch()
    opt = torch.optim.Adam(shared_net.parameters())
    for _ in range(5):
        opt.zero_grad()
        F.cross_entropy(shared_net(x), y).backward()
        opt.step()


def test_lstm():
    lstm = nn.LSTM(3, 5, batch_first=True)
    head = nn.Linear(5, 1)
    opt = torch.optim.Adam([*lstm.parameters(), *head.parameters()])
    x = torch.randn(2, 7, 3)
    out, _ = lstm(x)
    loss = F.mse_loss(head(out[:, -1]), torch.ones(2, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()


def test_gan_step():
    g, d = nn.Linear(2, 3), nn.Linear(3, 1)
    og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    real = torch.randn(4, 3)
    fake = g(torch.randn(4, 2))
    bce = F.binary_cross_entropy_with_logits
    ld = bce(d(real), torch.ones(4, 1)) + bce(d(fake.detach()), torch.zeros(4, 1))
    od.zero_grad()
    ld.backward()
    od.step()
    lg = bce(d(fake), torch.ones(4, 1))
    og.zero_grad()
    lg.backward()
    og.step()


def test_loss_value():
    logits = torch.tensor([[2.0, 0.0], [0.0, 2.0]], requires_grad=True)
    loss = F.cross_entropy(logits, torch.tensor([0, 1]))
    assert loss.item() == pytest.approx(0.1269, abs=1e-3)
    loss.backward()


def test_raises():
    with pytest.raises(RuntimeError):
        nn.Linear(3, 2)(torch.randn(1, 4))


def test_nan_guard():
    x = torch.tensor([0.0], requires_grad=True)
    y = torch.log(x)
    assert torch.isinf(y).all()


def test_gradcheck():
    lin = nn.Linear(2, 2).double()
    x = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lin, (x,))


def test_training_step_fixture(training_step, net):
    opt = torch.optim.Adam(net.parameters())

    def step():
        x, y = batch(8)
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss.item()

    assert len(training_step(step)) == 5


def test_clip(net):
    x, y = batch()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()


def test_zero_init():
    lin = nn.Linear(4, 4)
    nn.init.zeros_(lin.weight)
    nn.init.zeros_(lin.bias)
    assert lin(torch.ones(1, 4)).sum() == 0


def test_unused_head():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
    opt.zero_grad()
    a(torch.randn(3, 2)).sum().backward()
    opt.step()
    assert b.weight.grad is None


def mlp():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))


def test_ema_teacher():
    student = mlp()
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    x = torch.randn(8, 4)
    for _ in range(5):
        with torch.no_grad():
            target = teacher(x)
        loss = F.mse_loss(student(x + 0.1), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for a, b in zip(teacher.parameters(), student.parameters(), strict=True):
                a.lerp_(b, 0.1)


def test_lbfgs():
    w = nn.Parameter(torch.zeros(2))
    opt = torch.optim.LBFGS([w])

    def closure():
        opt.zero_grad()
        loss = (w - torch.tensor([1.0, 2.0])).pow(2).sum()
        loss.backward()
        return loss

    opt.step(closure)
    assert torch.allclose(w, torch.tensor([1.0, 2.0]), atol=1e-3)


def test_gradient_penalty():
    d = mlp()
    opt = torch.optim.Adam(d.parameters())
    x = torch.randn(8, 4, requires_grad=True)
    (g,) = torch.autograd.grad(d(x).sum(), x, create_graph=True)
    loss = (g.norm(dim=1) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def test_epochs_with_a_small_loader():
    x = torch.randn(16, 4)
    y = (x.sum(1) > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=8)
    m = mlp()
    opt = torch.optim.Adam(m.parameters(), lr=1e-2)
    for _ in range(4):
        for a, b in loader:
            opt.zero_grad()
            F.cross_entropy(m(a), b).backward()
            opt.step()
    m.eval()
    with torch.no_grad():
        assert (m(x).argmax(1) == y).float().mean() >= 0


@pytest.mark.parametrize("act", [nn.ReLU, nn.Tanh, nn.GELU])
def test_activations(act):
    m = nn.Sequential(nn.Linear(3, 3), act(), nn.Linear(3, 1))
    m(torch.zeros(2, 3)).sum().backward()
    assert m[2].weight.grad is not None


def test_accuracy_without_no_grad():
    m = mlp()
    x = torch.randn(6, 4)
    assert (m(x).argmax(dim=1) == torch.zeros(6)).float().mean() <= 1


def test_transformer_layer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    head = nn.Linear(8, 5)
    emb = nn.Embedding(5, 8)
    opt = torch.optim.AdamW([*layer.parameters(), *head.parameters(), *emb.parameters()])
    ids = torch.randint(0, 5, (2, 6))
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    logits = head(layer(emb(ids[:, :-1]), src_mask=mask, is_causal=True))
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()


def test_custom_dataset_and_workers():
    class D(Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, i):
            return torch.full((4,), float(i)) / 12, i % 3

    m = mlp()
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for a, b in DataLoader(D(), batch_size=4, shuffle=True):
        opt.zero_grad()
        F.cross_entropy(m(a), b).backward()
        opt.step()


def test_nan_is_noticed():
    m = mlp()
    loss = m(torch.full((2, 4), float("nan"))).mean()
    assert math.isnan(loss.item())


def test_early_stopping():
    best, bad, losses = math.inf, 0, [3, 2, 2.5, 2.6]
    for value in losses:
        if value < best:
            best, bad = value, 0
        else:
            bad += 1
        if bad == 2:
            break
    assert best == 2


def test_state_dict_strict_false(tmp_path):
    a, b = mlp(), nn.Sequential(nn.Linear(4, 16), nn.ReLU())
    found = b.load_state_dict({k: v for k, v in a.state_dict().items() if k.startswith("0")}, strict=False)
    assert not found.missing_keys


def test_vae_step():
    enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
    opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
    x = torch.rand(8, 6)
    mu, logvar = enc(x).chunk(2, dim=1)
    z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
    rec = F.binary_cross_entropy_with_logits(dec(z), x, reduction="sum") / 8
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    opt.zero_grad()
    (rec + kl).backward()
    opt.step()


def test_regression_learns(training_step):
    torch.manual_seed(0)
    m = nn.Linear(3, 1)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x = torch.randn(32, 3)
    y = x @ torch.tensor([[1.0], [2.0], [3.0]])

    def step():
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
        return loss.item()

    losses = training_step(step)
    assert losses[-1] < losses[0]


def test_warmup_scheduler():
    m = mlp()
    opt = torch.optim.SGD(m.parameters(), lr=1.0)
    s = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min(1, (i + 1) / 10))
    lrs = []
    for _ in range(12):
        opt.zero_grad()
        m(torch.randn(4, 4)).pow(2).mean().backward()
        opt.step()
        lrs.append(s.get_last_lr()[0])
        s.step()
    assert lrs[0] == pytest.approx(0.1)


def test_amp_cpu():
    m = mlp()
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x = torch.randn(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.cross_entropy(m(x), torch.tensor([0, 1, 2, 0]))
    opt.zero_grad()
    loss.backward()
    opt.step()


def test_rnn_state_is_carried():
    cell = nn.GRUCell(2, 3)
    h = torch.zeros(1, 3)
    for _ in range(4):
        h = cell(torch.randn(1, 2), h)
    h.sum().backward()
    assert cell.weight_hh.grad.abs().sum() > 0
