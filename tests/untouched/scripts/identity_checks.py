"""What is what: types, identities and bases that a careful library asserts."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter, _SingleProcessDataLoaderIter

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(6, 2)), batch_size=2)
iterator = iter(loader)
print(
    type(iterator) is _SingleProcessDataLoaderIter,
    isinstance(iterator, _BaseDataLoaderIter),
    len(iterator),
    len(loader),
)
for x in iterator:
    optimizer.zero_grad()
    model(x[0]).sum().backward()
    optimizer.step()
    print(nn.Module.__call__ is nn.Module._wrapped_call_impl, type(x), type(optimizer.step).__name__)
    print(type(model) is nn.Linear, type(model).__mro__, type(optimizer).__mro__)
    print(torch.Tensor.backward.__qualname__, torch.Tensor.backward.__code__.co_filename.endswith("_tensor.py"))
    print(type(loader.batch_sampler).__name__, type(loader.sampler).__name__)
    print(
        isinstance(vars(DataLoader)["_index_sampler"], property),
        callable(loader.collate_fn),
        loader.collate_fn.__name__,
    )
print(iter(loader) is iter(loader), next(iter(loader))[0].shape, iterator._num_yielded)
