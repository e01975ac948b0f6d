"""`wandb.data_types`: everything that can be logged besides numbers and text."""

from __future__ import annotations

from stepscope.wandb.images import BoundingBoxes2D, Classes, Image, ImageMask
from stepscope.wandb.other_media import Audio, Graph, Histogram, Html, Molecule, Object3D, Plotly, Video, box3d
from stepscope.wandb.tables import Table

__all__ = [
    "Audio",
    "BoundingBoxes2D",
    "Classes",
    "Graph",
    "Histogram",
    "Html",
    "Image",
    "ImageMask",
    "Molecule",
    "Object3D",
    "Plotly",
    "Table",
    "Video",
    "WBValue",
    "box3d",
]

WBValue = Audio | Graph | Histogram | Html | Image | Molecule | Object3D | Plotly | Table | Video
"""Any of these, as used in annotations."""
