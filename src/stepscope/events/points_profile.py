"""What the profiler, trials of its advice, dry runs and replays may touch, beside the table of `points.py`.

Points of `profiling` only look. Those of `on request` change what the script does, because the user asked for exactly
that: `--try`, `tune-data`, `--max-steps`, `--eager`, `--no-workers`, a dry run, a replay.
"""

from __future__ import annotations

_DATA = "torch.utils.data"
_FETCH = f"{_DATA}._utils.fetch"
_WORKER = f"{_DATA}._utils.worker"
_THEIRS = "the script uses torch.profiler itself: ours makes way"
_SWITCH = "a trial holds this switch"
_KEPT = "a dry run leaves the script's folder as it was"
_FILES = "a dry run writes elsewhere, and reads there again"

PROFILING: dict[str, dict[str, str]] = {
    "profiling": {
        "torch:Tensor.to": "time spent moving tensors to a device; a trial moves them without waiting",
        "torch:Tensor.cuda": "time spent moving tensors to a device; a trial moves them without waiting",
        "torch:Tensor.__repr__": "printing a tensor waits for the device",
        "torch:Tensor.__format__": "printing a tensor waits for the device",
        "torch.autograd.profiler:profile._prepare_trace": _THEIRS,
        "torch.autograd.profiler:profile._start_trace": _THEIRS,
        "torch.autograd.profiler:profile.__enter__": _THEIRS,
        "torch.autograd.profiler:profile.__exit__": _THEIRS,
        "torch.autograd.profiler:profile.export_chrome_trace": "its own trace is read instead",
        "torch.profiler.profiler:_KinetoProfile.export_chrome_trace": "its own trace is read instead",
        f"{_DATA}.dataloader:_DatasetKind.create_fetcher": "what a batch is made of: samples, transforms, collation",
        f"{_FETCH}:_MapDatasetFetcher.fetch": "how long a fetch takes; a trial keeps samples in memory",
        f"{_FETCH}:_IterableDatasetFetcher.fetch": "how long a fetch takes",
        f"{_DATA}._utils.pin_memory:pin_memory": "time spent pinning memory",
        f"{_WORKER}:_worker_loop": "workers are timed like the main process",
        f"{_WORKER}:ExceptionWrapper": "an error in a timed worker has the traceback it would have without us",
        "multiprocessing.queues:_ForkingPickler": "time a worker spends packing a batch",
    },
    "on request": {
        f"{_DATA}.dataloader:DataLoader.__init__": "--no-workers, and trials of other settings",
        f"{_DATA}.dataloader:DataLoader.__iter__": "a replay hands out the saved batch",
        f"{_DATA}.dataloader:DataLoader._index_sampler": "limits shorten a pass, and len(loader) agrees",
        f"{_DATA}.dataloader:_SingleProcessDataLoaderIter._next_data": "batches of another loader: tune-data, ideal",
        f"{_DATA}.dataloader:_MultiProcessingDataLoaderIter._next_data": "batches of another loader: tune-data, ideal",
        "torch.nn:Module.__call__": "a replay calls models with the saved arguments",
        "torch.optim.lr_scheduler:LRScheduler.step": "schedules stand still while loaders are tuned",
        "torch:set_float32_matmul_precision": _SWITCH,
        "torch:set_num_threads": _SWITCH,
        "torch:use_deterministic_algorithms": _SWITCH,
        "torch.autograd.anomaly_mode:set_detect_anomaly.__init__": _SWITCH,
        "torch.distributed:get_rank": "a replay of one rank answers with its number",
        "torch.jit:save": _FILES,
        "torch.jit:load": _FILES,
        "safetensors.torch:save_file": _FILES,
        "safetensors.torch:save_model": _FILES,
        "safetensors.torch:load_file": _FILES,
        "safetensors.torch:load_model": _FILES,
        "safetensors.numpy:save_file": _FILES,
        "torchvision.utils:save_image": _FILES,
        "numpy:save": _FILES,
        "numpy:savez": _FILES,
        "numpy:savez_compressed": _FILES,
        "numpy:savetxt": _FILES,
        "numpy:load": _FILES,
        "joblib:dump": _FILES,
        "joblib:load": _FILES,
        "matplotlib.figure:Figure.savefig": _FILES,
        "PIL.Image:Image.save": _FILES,
        "builtins:open": _KEPT,
        "io:open": _KEPT,
        "os:mkdir": _KEPT,
        "os:remove": _KEPT,
        "os:unlink": _KEPT,
        "os:rename": _KEPT,
        "os:replace": _KEPT,
        "shutil:rmtree": _KEPT,
        "transformers.trainer:Trainer._save_checkpoint": "folders of checkpoints without weights are removed",
    },
}  # fmt: skip
