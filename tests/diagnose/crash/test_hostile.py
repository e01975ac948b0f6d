"""Crashes that are hard to read: nothing of ours may fail on them, and nothing may be guessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepscope import fence
from stepscope.diagnose.crash.explain import explain

Run = Callable[..., Any]


def text_of(done: Any) -> str:
    told = explain(done.crash).text(width=100)
    assert not fence._faults, [fault.error for fault in fence._faults.values()]
    assert all(len(line) <= 100 for line in told.splitlines())
    return told


@pytest.mark.parametrize("watched", [False, True])
def test_an_error_of_the_users_own_gets_tensors_and_a_finding(crash: Run, watched: bool) -> None:
    done = crash("x = torch.zeros(3)\nsettings = {}\nsettings['lr']", watched=watched)
    assert done.one() == ("data.missing-key", "settings['lr']")
    assert "x  float32 [3], cpu, 0 to 0" in text_of(done)


def test_objects_that_raise_when_looked_at(crash: Run) -> None:
    done = crash("""
        class Nasty:
            def __repr__(self):
                raise ValueError("no")
            def __getattr__(self, name):
                raise RuntimeError("no " + name)
            def __eq__(self, other):
                raise RuntimeError("no eq")
            def __len__(self):
                raise RuntimeError("no len")

        class Tuples(tuple):
            def __getitem__(self, key):
                raise RuntimeError("no item")

        nasty, pair = Nasty(), Tuples((1, 2))
        x = torch.ones(2, 3)
        x @ x
    """)
    assert [f.rule for f in done.findings] == ["shape.broadcast-crash"]
    assert "what failed: matmul" in text_of(done)


def test_an_exception_that_cannot_be_printed(crash: Run) -> None:
    done = crash("""
        class Mute(RuntimeError):
            def __str__(self):
                raise ValueError("no words")

        x = torch.ones(1)
        raise Mute()
    """)
    assert done.one() == ("crash.raised", "raise Mute()")
    assert "Mute" in explain(done.crash).headline


def test_a_thousand_variables_and_long_names(crash: Run) -> None:
    done = crash("""
        for i in range(3000):
            globals()["variable_with_a_rather_long_name_" + str(i)] = torch.zeros(1)
        torch.ones(2, 3) @ torch.ones(2, 3)
    """)
    told = text_of(done)
    assert len(told.splitlines()) < 40
    assert "more" in told


def test_a_recursion_without_end(crash: Run) -> None:
    done = crash("""
        def again(x):
            return again(x + 1)

        again(torch.zeros(1))
    """)
    assert done.one() == ("api.endless-recursion", "return again(x + 1)")
    assert len(done.crash.frames) <= 200
    text_of(done)


def test_what_was_raised_first_is_explained(crash: Run) -> None:
    done = crash(
        """
        model = nn.Linear(4, 2)
        def predict(x):
            try:
                return model(x)
            except RuntimeError as error:
                raise ValueError("prediction failed") from error

        predict(torch.ones(3, 5))
    """,
        watched=True,
    )
    assert done.one() == ("shape.linear-in", "model = nn.Linear(4, 2)")


def test_a_meta_tensor_and_an_empty_one_have_no_range(crash: Run) -> None:
    done = crash("a, b = torch.zeros(2, device='meta'), torch.zeros(0, 3)\nraise KeyError('x')")
    told = text_of(done)
    assert "a  float32 [2], meta" in told
    assert "b  float32 [0, 3], cpu" in told


def test_looking_leaves_tensors_and_random_numbers_alone() -> None:
    import torch

    from stepscope.record.observers import Watcher
    from stepscope.record.observers.crash.observe import observe

    x = torch.randn(50, requires_grad=True)
    before, version, state = x.detach().clone(), x._version, torch.get_rng_state()
    with pytest.raises(RuntimeError) as raised:
        (x * 2).add_(torch.ones(7))
    seen = observe(raised.value, Watcher())
    assert seen.frames[-1].inner.names["x"].shape == (50,)
    assert torch.equal(before, x.detach())
    assert x._version == version
    assert torch.equal(state, torch.get_rng_state())


def test_the_record_of_a_crash_holds_nothing_alive(crash: Run) -> None:
    """It can be written, and read again on a machine without torch: the same operation, layers and words."""
    from stepscope.diagnose.crash.crash import Crash
    from stepscope.evidence.codec import decode, encode
    from stepscope.evidence.registry import records

    done = crash(
        """
        from torch.utils.data import DataLoader, TensorDataset
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 8)
                self.out = nn.Linear(6, 2)
            def forward(self, x):
                return self.out(torch.relu(self.fc(x)))

        loader = DataLoader(TensorDataset(torch.randn(6, 4), torch.arange(6)), batch_size=2)
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            F.cross_entropy(model(x), y).backward()
    """,
        watched=True,
    )
    again = Crash.reading(decode(encode(done.crash, records()), records()))
    assert explain(again) == explain(done.crash)
    assert [layer.name for layer in again.layers] == ["Net", "out (Linear)"]
    assert again.loaders[0].batch_size == 2
