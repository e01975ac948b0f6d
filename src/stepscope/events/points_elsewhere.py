"""What Stepscope may touch outside torch: trainers, trackers, parsers of arguments, Python's own process machinery.

Where a class exists under two names (`lightning.pytorch` and `pytorch_lightning`, torch's `SummaryWriter` and that of
tensorboardX) the address names the first, and stands for both.
"""

from __future__ import annotations


def _methods(owner: str, names: str, why: str) -> dict[str, str]:
    """The same reason for several functions of one class or module."""
    mark = "." if ":" in owner else ":"
    return {f"{owner}{mark}{name}": why for name in names.split()}


_LIGHTNING = "lightning.pytorch"
_STAGE = "where training, evaluation and prediction begin and end"
_LOGGED = "what the script logs is kept with its run too"
_STEPS = "steps of optimizers that are not torch's"
_BEST = "which value a callback compares"
_TRAINERS: dict[str, str] = {
    **_methods("accelerate.accelerator:Accelerator", "backward", "losses of accumulated batches are divided"),
    **_methods("accelerate.accelerator:Accelerator", "prepare prepare_model prepare_optimizer", "what was prepared"),
    **_methods("accelerate.accelerator:Accelerator", "autocast", "mixed precision by hand"),
    **_methods("accelerate.accelerator:Accelerator", "log init_trackers", _LOGGED),
    **_methods("fastai.learner:Learner", "_do_fit _do_epoch_train _do_epoch_validate get_preds", _STAGE),
    **_methods("fastai.learner:Recorder", "after_epoch", _LOGGED),
    **_methods("fastai.callback.schedule:Learner", "lr_find", "steps that are taken back"),
    **_methods("fastai.optimizer:Optimizer", "step", _STEPS),
    **_methods("ignite.engine.engine:Engine", "run _fire_event", _STAGE),
    **_methods("keras.src.backend.torch.trainer:TorchTrainer", "fit train_step evaluate predict", _STAGE),
    **_methods(
        "keras.src.callbacks.callback_list:CallbackList",
        "on_train_begin on_train_batch_end on_epoch_end on_train_end on_test_end",
        _LOGGED,
    ),
    **_methods("keras.src.optimizers.base_optimizer:BaseOptimizer", "apply", _STEPS),
    **_methods(f"{_LIGHTNING}.loops.fit_loop:_FitLoop", "run on_advance_end", _STAGE),
    **_methods(f"{_LIGHTNING}.loops.evaluation_loop:_EvaluationLoop", "run", _STAGE),
    **_methods(f"{_LIGHTNING}.loops.prediction_loop:_PredictionLoop", "run", _STAGE),
    **_methods(f"{_LIGHTNING}.callbacks.lr_finder:LearningRateFinder", "lr_find", "steps that are taken back"),
    **_methods(
        f"{_LIGHTNING}.callbacks.batch_size_finder:BatchSizeFinder", "scale_batch_size", "steps that are taken back"
    ),
    **_methods(
        f"{_LIGHTNING}.trainer.connectors.accelerator_connector:_AcceleratorConnector",
        "__init__",
        "whether the script chose the CPU",
    ),
    **_methods(f"{_LIGHTNING}.callbacks.early_stopping:EarlyStopping", "__init__ _evaluate_stopping_criteria", _BEST),
    **_methods(f"{_LIGHTNING}.callbacks.model_checkpoint:ModelCheckpoint", "__init__ check_monitor_top_k", _BEST),
    **_methods(
        f"{_LIGHTNING}.trainer.connectors.logger_connector.logger_connector:_LoggerConnector", "log_metrics", _LOGGED
    ),
    **_methods(
        "lightning.fabric.strategies.launchers.subprocess_script",
        "_basic_subprocess_cmd _hydra_subprocess_cmd",
        "the other ranks of the script are watched too",
    ),
    **_methods(
        "transformers.trainer:Trainer",
        "_inner_training_loop training_step evaluation_loop prediction_loop _save_checkpoint",
        _STAGE,
    ),
    **_methods("transformers.trainer:Trainer", "predict log", _LOGGED),
    **_methods("transformers.trainer_callback:CallbackHandler", "on_predict", _LOGGED),
}
_TRACKERS: dict[str, str] = {
    **_methods(
        "mlflow.tracking._tracking_service.client:TrackingServiceClient",
        "log_metric log_param set_tag log_batch",
        _LOGGED,
    ),
    **_methods(
        "mlflow.tracking.client:MlflowClient",
        "log_figure log_image log_text log_dict log_table log_artifact log_artifacts",
        _LOGGED,
    ),
    **_methods(
        "torch.utils.tensorboard.writer:SummaryWriter",
        "add_scalar add_scalars add_histogram add_histogram_raw add_image add_images add_image_with_boxes add_figure "
        "add_video add_audio add_text add_pr_curve add_pr_curve_raw add_embedding add_hparams",
        _LOGGED,
    ),
    **_methods("tensorboard.plugins.scalar.summary_v2", "scalar", _LOGGED),
    **_methods("tensorboard.plugins.histogram.summary_v2", "histogram", _LOGGED),
    **_methods("tensorboard.plugins.image.summary_v2", "image", _LOGGED),
    **_methods("tensorboard.plugins.text.summary_v2", "text", _LOGGED),
    **_methods("tensorboard.plugins.audio.summary_v2", "audio", _LOGGED),
    **_methods(
        "tensorflow.python.ops.summary_ops_v2:_ResourceSummaryWriter", "__init__", "which folder a writer writes to"
    ),
    **_methods("wandb", "init", "which W&B runs there are"),
    **_methods("wandb", "log _log define_metric alert log_artifact", _LOGGED),
    **_methods("wandb:Run", "log _log define_metric alert log_artifact", _LOGGED),
    **_methods("wandb:Config", "_callback", "settings that change during the run"),
    **_methods("wandb:Summary", "_update_callback", "summary values set by hand"),
}
_CONFIG = "the script's settings"
_SETTINGS: dict[str, str] = {
    **_methods("argparse:ArgumentParser", "parse_known_args", _CONFIG),
    **_methods("simple_parsing.parsing:ArgumentParser", "parse_known_args", _CONFIG),
    **_methods("jsonargparse:ArgumentParser", "parse_args", _CONFIG),
    **_methods("click:Command", "invoke", _CONFIG),
    **_methods("typer._click.core:Command", "invoke", _CONFIG),
    **_methods("fire.core", "_MakeParseFn", _CONFIG),
    **_methods("tyro._calling", "callable_with_args", _CONFIG),
    **_methods("absl.flags._flagvalues:FlagValues", "__call__", _CONFIG),
    **_methods("hydra._internal.callbacks:Callbacks", "on_job_start", "the settings of a job, composed by Hydra"),
    **_methods("omegaconf:OmegaConf", "load merge unsafe_merge", _CONFIG),
    **_methods("yacs.config:CfgNode", "merge_from_file merge_from_list", _CONFIG),
    **_methods("yaml", "load", "config files that the script loads"),
    **_methods("json", "load", "config files that the script loads"),
    **_methods("tomllib", "load", "config files that the script loads"),
}
_PROCESS: dict[str, str] = {
    **_methods("multiprocessing.process:BaseProcess", "start", "processes that the script starts are watched too"),
    **_methods("multiprocessing.process:BaseProcess", "_after_fork", "where the watch begins in such a process"),
    **_methods("signal", "getsignal signal", "a signal we hear too: the script sees and sets its own handler"),
    **_methods("faulthandler", "enable", "a script that wants the fault handler has it for itself"),
    **_methods("sys", "excepthook exit", "how the run ended"),
    **_methods("_sitebuiltins:Quitter", "__call__", "how the run ended: `exit()` and `quit()`"),
    **_methods("sys:stdout", "write", "what is printed is kept with the run; the status line makes way for it"),
    **_methods("sys:stderr", "write", "what is printed is kept with the run; the status line makes way for it"),
    **_methods("sys", "stdout", "with --json nothing but our answer is printed there"),
    **_methods("traceback", "print_exc format_exc", "tracebacks of such a process without our frames"),
    **_methods("traceback", "walk_stack", "stacks that the script prints end where it begins"),
}
ELSEWHERE: dict[str, dict[str, str]] = {
    "process": _PROCESS,
    "settings": _SETTINGS,
    "trackers": _TRACKERS,
    "trainers": _TRAINERS,
}
