"""What people call the thing a comment is about."""

from __future__ import annotations

from stepscope.errors import StepscopeError
from stepscope.people.comments import Topic
from stepscope.report import store
from stepscope.report.text import cut
from stepscope.runs.catalogue.catalogue import Catalogue


def title_of(catalogue: Catalogue, topic: Topic) -> str:
    """The name of the run or the title of the report; its id where it is gone."""
    try:
        if topic.report is not None:
            return cut(store.read(store.find(catalogue.stores, topic.report).version())).title
        return catalogue.entry(str(topic.run)).name
    except StepscopeError:
        return topic.report or str(topic.run)
