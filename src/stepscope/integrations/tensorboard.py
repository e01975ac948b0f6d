"""TensorBoard's complete `SummaryWriter` interface, writing to Stepscope runs. TensorBoard is not needed.

from stepscope.tensorboard import SummaryWriter

writer = SummaryWriter("runs/exp1")
writer.add_scalar("loss/train", loss, step)
writer.close()
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from stepscope.fence import fenced
from stepscope.integrations import _tensorboard_media as media
from stepscope.integrations._tensorboard_graph import recorded_graph
from stepscope.integrations._tensorboard_run import WriterRun
from stepscope.integrations._tensorboard_summary import log_summary
from stepscope.track.media import Embedding, File, Markdown
from stepscope.track.run import Run
from stepscope.track.secondary_run import open_detached
from stepscope.track.wall_times import log_at

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """`SummaryWriter.file_writer`: for code that passes serialized summaries (protocol buffers)."""

    def __init__(self, owner: SummaryWriter) -> None:
        self._owner = owner

    def get_logdir(self) -> Any:
        return self._owner.get_logdir()

    @fenced("add_event()")
    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Log the scalars, texts and hyperparameters of an event."""
        summary = getattr(event, "summary", None)
        if summary is not None:
            self.add_summary(summary, step if step is not None else getattr(event, "step", None), walltime)

    @fenced("add_summary()")
    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Log the scalars, texts and hyperparameters of a summary."""
        data = summary if isinstance(summary, bytes) else summary.SerializeToString()
        log_summary(self._owner, data, global_step, walltime)

    @property
    def event_writer(self) -> FileWriter:
        """tensorboardX keeps the file in a separate object."""
        return self

    def flush(self) -> None:
        self._owner.flush()

    def close(self) -> None:
        self._owner.close()

    def reopen(self) -> None:
        """Nothing to do: a closed writer reopens automatically."""


class SummaryWriter:
    """A replacement for `torch.utils.tensorboard.SummaryWriter`. One writer is one run, named after its `log_dir`.

    Values are logged in full precision and, from a GPU, without waiting for it. `flush_secs`, `max_queue`
    and `filename_suffix` have no effect: values are written when the call returns. `logdir`,
    `write_to_disk=False` (a rank that records nothing) and a few more are tensorboardX's.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        *,
        logdir: Any = None,
    ) -> None:
        log_dir = log_dir or logdir
        if not log_dir:
            moment = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{moment}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.default_bins = media.default_bins()
        if write_to_disk:
            self._make_folder()
        self._mine = WriterRun(os.fspath(log_dir), purge_step, records=write_to_disk)
        self.purge_step = None
        self._hparams: dict[str, Any] | None = None
        self.file_writer: FileWriter | None = FileWriter(self)
        self.all_writers: dict[str, FileWriter] | None = {self.get_logdir(): self.file_writer}

    @fenced("making the folder of a SummaryWriter")
    def _make_folder(self) -> None:
        """Scripts store checkpoints there."""
        os.makedirs(self.log_dir, exist_ok=True)

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = FileWriter(self)
            self.all_writers = {self.get_logdir(): self.file_writer}
        return self.file_writer

    @property
    def run(self) -> Run:
        """The run behind the writer, for what TensorBoard has no call for: `writer.run.config.update(...)`."""
        return self._mine.ready()

    def get_logdir(self) -> Any:
        """The requested folder. It exists; the values are in the run (`writer.run.path`)."""
        return self.log_dir

    # -- numbers --------------------------------------------------------------------------------------------------

    def _log(self, values: Mapping[str, Any], step: Any, walltime: float | None = None) -> None:
        """As in TensorBoard: without a step it is step 0."""
        run = self._mine.ready()
        number = 0 if step is None else int(step)
        if walltime is None:
            run.log(values, number)
        else:
            log_at(run, values, number, float(walltime))

    @fenced("add_scalar()")
    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        self._log({tag: scalar_value}, global_step, walltime)

    @fenced("add_scalars()")
    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Lines of one chart, named `main_tag/line` in this run (TensorBoard creates a run for each)."""
        values = {f"{main_tag}/{line}": value for line, value in tag_scalar_dict.items()}
        self._log(values, global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: Any = None,
        *,
        name: str | None = None,
    ) -> None:
        """The first call's hyperparameters become this run's config; each further set becomes a separate run."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        self._add_hparams(hparam_dict, metric_dict, run_name or name, global_step)

    @fenced("add_hparams()")
    def _add_hparams(self, hparams: dict[str, Any], metrics: dict[str, Any], name: str | None, step: Any) -> None:
        run = self._mine.ready()
        settings = {key: _plain(value) for key, value in hparams.items() if value is not None}
        if self._hparams is None or self._hparams == settings:
            self._hparams = settings
            run.config.update(settings)
            self._log(metrics, step)
            return
        beside = open_detached(
            project=run.project, name=f"{run.name}/{name or time.time()}", config=settings, group=run.group or run.name
        )
        beside.log(metrics, 0 if step is None else int(step))
        beside.finish()

    @fenced("add_tensor()")
    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Stored as a numpy file."""
        self._log({tag: media.RawFile.of_array(tensor)}, global_step, walltime)

    @fenced("add_histogram()")
    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        self._log({tag: media.Bins(values, bins, max_bins)}, global_step, walltime)

    @fenced("add_histogram_raw()")
    def add_histogram_raw(
        self,
        tag: str,
        min: Any,
        max: Any,
        num: Any,
        sum: Any,
        sum_squares: Any,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        made = media.CountedBins(bucket_limits, bucket_counts, (min, max, num, sum, sum_squares))
        self._log({tag: made}, global_step, walltime)

    # -- pictures, sounds, texts ----------------------------------------------------------------------------------

    @fenced("add_image()")
    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        self._log({tag: media.Picture(img_tensor, dataformats)}, global_step, walltime)

    @fenced("add_images()")
    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        self._log({tag: media.Picture(img_tensor, dataformats)}, global_step, walltime)

    @fenced("add_image_with_boxes()")
    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """The boxes are stored separately from the pixels: the page draws them, and can hide them."""
        if isinstance(labels, str):
            labels = [labels]
        if labels is not None and len(labels) != len(box_tensor):
            labels = None
        made = media.Picture(img_tensor, dataformats, box_tensor, labels, rescale)
        self._log({tag: made}, global_step, walltime)

    @fenced("add_figure()")
    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        figures = list(figure) if isinstance(figure, list) else [figure]
        self._log({tag: figures if isinstance(figure, list) else figure}, global_step, walltime)
        pyplot = sys.modules.get("matplotlib.pyplot")
        if close and pyplot is not None:
            for one in figures:
                pyplot.close(one)

    @fenced("add_video()")
    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4, walltime: float | None = None
    ) -> None:
        self._log({tag: media.Clip(vid_tensor, fps)}, global_step, walltime)

    @fenced("add_audio()")
    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        self._log({tag: media.Sound(snd_tensor, sample_rate)}, global_step, walltime)

    @fenced("add_text()")
    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        self._log({tag: Markdown(text_string)}, global_step, walltime)

    # -- models, vectors, curves, shapes --------------------------------------------------------------------------

    @fenced("add_onnx_graph()")
    def add_onnx_graph(self, prototxt: Any) -> None:
        """Stored as a file."""
        self._log({"graph/onnx": File(prototxt)}, None)

    @fenced("add_graph()")
    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Record one forward pass of the model: its page shows the graph, the shapes and the cost of each layer.

        As in TensorBoard, the model runs once in eval mode. Nothing is traced, so every model works.
        """
        step = recorded_graph(model, input_to_model)
        if verbose:
            step.print()
        self._log({"graph": step}, None)

    @fenced("add_embedding()")
    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        labels = metadata
        if metadata is not None and metadata_header:
            labels = {str(name): [row[place] for row in metadata] for place, name in enumerate(metadata_header)}
        self._log({tag: Embedding(mat, labels, label_img)}, global_step)

    @fenced("add_pr_curve()")
    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        made = media.Curve(labels=labels, scores=predictions, count=num_thresholds, weights=weights)
        self._log({tag: made}, global_step, walltime)

    @fenced("add_pr_curve_raw()")
    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        self._log({tag: media.Curve((*counts, precision, recall))}, global_step, walltime)

    @fenced("add_custom_scalars_multilinechart()")
    def add_custom_scalars_multilinechart(self, tags: Any, category: str = "default", title: str = "untitled") -> None:
        self.add_custom_scalars({category: {title: ["Multiline", list(tags)]}})

    @fenced("add_custom_scalars_marginchart()")
    def add_custom_scalars_marginchart(self, tags: Any, category: str = "default", title: str = "untitled") -> None:
        self.add_custom_scalars({category: {title: ["Margin", list(tags)]}})

    @fenced("add_custom_scalars()")
    def add_custom_scalars(self, layout: Mapping[str, Any]) -> None:
        """Stored with the run; Stepscope arranges charts on the page itself."""
        self._log({"custom_scalars/json": media.RawFile.of_json("layout.json", layout)}, None)

    @fenced("add_mesh()")
    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Any = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Stored as PLY files, for 3D viewers."""
        self._log({tag: media.Mesh(vertices, colors, faces)}, global_step, walltime)

    # -- its end --------------------------------------------------------------------------------------------------

    @fenced("flush()")
    def flush(self) -> None:
        if not self._mine.run.is_finished:
            self._mine.run.flush()

    def close(self) -> None:
        """End the run. Later additions continue it, as another attempt."""
        self._leave()

    @fenced("close()")
    def _leave(self, error: BaseException | None = None) -> None:
        self._mine.close(error)
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        self._leave(exc_val)


def _plain(value: Any) -> Any:
    """A hyperparameter for the config: one number from a tensor."""
    if hasattr(value, "numel") and hasattr(value, "item"):
        return value.reshape(-1)[0].item()
    return value
