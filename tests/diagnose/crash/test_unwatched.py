"""A crash that nobody watched: the exception, its frames and the autograd graph must tell the cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


def test_names_the_flattened_size_from_the_autograd_graph(crash: Run) -> None:
    done = crash("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(1, 8, 3)
                self.fc = nn.Linear(100, 10)

            def forward(self, x):
                x = torch.relu(self.conv(x))
                x = x.view(x.size(0), -1)
                return self.fc(x)

        Net()(torch.randn(4, 1, 8, 8))
    """)
    assert done.findings[0].rule == "shape.flatten"
    assert done.findings[0].fix == "set in_features to 288"


def test_names_the_concatenation_from_the_autograd_graph(crash: Run) -> None:
    done = crash("""
        a, b = nn.Linear(4, 8), nn.Linear(8, 2)
        x = torch.randn(3, 4)
        h = torch.cat([a(x), a(x)], 1)
        b(h)
    """)
    assert done.findings[0].rule == "shape.concat-channels"
    assert done.findings[0].evidence["in_features"] == 8


def test_finds_where_a_double_was_made_by_reading_the_source(crash: Run) -> None:
    done = crash("""
        import numpy as np

        x = torch.from_numpy(np.ones((4, 3)))
        model = nn.Linear(3, 1)

        def step(batch):
            return model(batch)

        step(x)
    """)
    assert done.one() == ("dtype.double-float", "x = torch.from_numpy(np.ones((4, 3)))")


def test_follows_a_batch_through_the_loader_into_the_dataset(crash: Run) -> None:
    done = crash("""
        import numpy as np
        from torch.utils.data import DataLoader, TensorDataset

        rows = torch.tensor(np.ones((8, 3)))
        loader = DataLoader(TensorDataset(rows, torch.zeros(8)), batch_size=4)
        model = nn.Linear(3, 1)
        for x, y in loader:
            model(x)
    """)
    assert done.one() == ("dtype.double-float", "rows = torch.tensor(np.ones((8, 3)))")


def test_finds_the_no_grad_block_by_reading_the_source(crash: Run) -> None:
    done = crash("""
        model = nn.Linear(3, 1)
        with torch.no_grad():
            out = model(torch.randn(4, 3))
        loss = out.mean()
        loss.backward()
    """)
    assert done.one() == ("autograd.no-grad-forward", "with torch.no_grad():")


def test_finds_a_write_in_place_by_reading_the_source(crash: Run) -> None:
    done = crash("""
        w = torch.randn(3, 3, requires_grad=True)
        h = torch.sigmoid(torch.randn(2, 3) @ w)
        step = 0
        step += 1
        h += w.sum()
        h.sum().backward()
    """)
    assert done.one() == ("autograd.inplace-modified", "h += w.sum()")


def test_knows_the_last_smaller_batch(crash: Run) -> None:
    done = crash("""
        from torch.utils.data import DataLoader

        model = nn.Linear(3, 1)
        labels = torch.ones(4, 1)
        loader = DataLoader(torch.randn(10, 3), batch_size=4)
        for x in loader:
            pred = model(x)
            F.binary_cross_entropy_with_logits(pred, labels)
    """)
    assert done.one() == ("shape.last-batch", "labels = torch.ones(4, 1)")
