"""What each experiment says of models that are right and of models that are not."""

from __future__ import annotations

import pytest

CLASSIFIER = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(8, 32), nn.Linear(32, 4)
            self.drop = nn.Dropout(0.2)

        def forward(self, x):
            return self.b({hidden})

    x, y = torch.randn(48, 8), torch.randint(0, 4, (48,))
    model = Net()
    {init}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(4):
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=16):
            loss = {loss}
            optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


def classifier(hidden: str = "self.drop(F.relu(self.a(x)))", loss: str = "", init: str = "") -> str:
    return CLASSIFIER.format(hidden=hidden, loss=loss or "F.cross_entropy(model(xb), yb)", init=init)


def test_a_sound_classifier_passes_all_of_them(probed) -> None:
    outcomes = probed(classifier())
    assert {name: one.state for name, one in outcomes.items() if name in MINE} == dict.fromkeys(MINE, "passed")
    assert "chance is ln 4 = 1.39" in outcomes["loss-at-start"].said


MINE = ("batch-order", "dataset-determinism", "eval-determinism", "loss-at-start", "overfit-one-batch")


@pytest.mark.parametrize(
    "loss",
    [
        "nn.CrossEntropyLoss()(model(xb), yb)",
        "F.nll_loss(F.log_softmax(model(xb), 1), yb)",
        "-model(xb).log_softmax(1)[torch.arange(len(yb)), yb].mean()",
        "sum(F.cross_entropy(o[None], t[None]) for o, t in zip(model(xb), yb)) / len(yb)",
        "F.mse_loss(model(xb), F.one_hot(yb, 4).float()) + 1e-4 * sum(p.pow(2).sum() for p in model.parameters())",
    ],
)
def test_the_script_s_own_loss_is_repeated_whatever_its_form(probed, loss: str) -> None:
    outcome = probed(classifier(loss=loss))["overfit-one-batch"]
    assert outcome.state == "passed"
    assert outcome.facts["end"] < 0.7 * outcome.facts["start"]


def test_functional_dropout_that_ignores_eval_is_named_with_its_line(probed) -> None:
    outcome = probed(classifier("F.dropout(F.relu(self.a(x)))"))["eval-determinism"]
    assert outcome.state == "suspicious"
    assert outcome.said.startswith("dropout still acts after eval(), at line 14")


@pytest.mark.parametrize(
    "hidden",
    [
        "F.dropout(F.relu(self.a(x)), training=True)",
        "F.relu(self.a(x) + torch.randn_like(self.a(x)))",
        "F.dropout(F.relu(self.a(x)), training=self.training)",
    ],
)
def test_randomness_that_is_meant_is_let_pass(probed, hidden: str) -> None:
    assert probed(classifier(hidden))["eval-determinism"].state == "passed"


def test_a_start_far_above_chance_is_suspicious(probed) -> None:
    outcome = probed(classifier(init="[nn.init.normal_(p, std=10) for p in model.parameters()]"))["loss-at-start"]
    assert outcome.state == "suspicious"
    assert outcome.facts["loss"] > 10 * outcome.facts["chance"]


def test_a_model_that_cannot_learn_its_batch_is_suspicious(probed) -> None:
    outcome = probed(classifier("self.drop(F.relu(self.a(x))) * 0", init="model.b.bias.requires_grad_(False)"))
    assert outcome["overfit-one-batch"].state == "suspicious"


def test_a_model_that_mixes_its_samples_is_suspicious(probed) -> None:
    assert probed(classifier("F.relu(self.a(x).cumsum(0))"))["batch-order"].state == "suspicious"


def test_a_dataset_that_changes_when_it_is_read_is_told_from_one_that_is_random(probed) -> None:
    code = """
        class Data(Dataset):
            def __init__(self): self.x, self.noise = torch.randn(20, 4), torch.Generator().manual_seed(0)
            def __len__(self): return 20
            def __getitem__(self, i):
                {body}
                return x, x.sum()

        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for x, y in DataLoader(Data(), batch_size=5):
            loss = F.mse_loss(model(x)[:, 0], y)
            optimizer.zero_grad(); loss.backward(); optimizer.step()
    """
    in_place = probed(code.format(body="x = self.x[i]; x.mul_(0.5)"))["dataset-determinism"]
    assert (in_place.state, in_place.facts["kind"]) == ("suspicious", "changes")
    own_generator = probed(code.format(body="x = self.x[i] + torch.randn(4, generator=self.noise)"))
    assert own_generator["dataset-determinism"].state == "passed"


def test_what_cannot_be_tried_says_why(probed) -> None:
    gan = probed("""
        g, d = nn.Linear(2, 2), nn.Linear(2, 1)
        og, od = torch.optim.SGD(g.parameters(), lr=0.1), torch.optim.SGD(d.parameters(), lr=0.1)
        for _ in range(3):
            fake = g(torch.randn(8, 2))
            od.zero_grad(); F.softplus(d(fake.detach())).mean().backward(); od.step()
            og.zero_grad(); F.softplus(-d(fake)).mean().backward(); og.step()
    """)
    assert gan["overfit-one-batch"].said == "several losses are trained in turn"
    assert gan["dataset-determinism"].said == "the script uses no DataLoader"
    hooked = probed(classifier(init="model.a.register_forward_hook(lambda *_: None)"))
    assert "hooks of the script's own" in hooked["eval-determinism"].said
