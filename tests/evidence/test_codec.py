import pytest

from stepscope.errors import StepscopeError
from stepscope.evidence.codec import decode, encode
from stepscope.evidence.origins import Origin
from stepscope.evidence.registry import records
from stepscope.records.place import Place
from stepscope.records.step import Site


def test_maps_come_back_with_records_and_tuples_as_keys():
    place = Place("train.py", "main", 1, Site(file="train.py", line=3, function="main"))
    root = {"by place": {place: 2}, "by row": {("images", 7): {1, 2}}, "by number": {7: (place, place)}}

    found = decode(encode(root, [Place, Site]), [Place, Site])

    (again,) = found["by place"]
    assert found == {"by place": {again: 2}, "by row": {("images", 7): {1, 2}}, "by number": {7: (again, again)}}
    assert (again.file, again.function, again.line) == ("train.py", "main", 3)


def test_a_history_that_leads_back_to_itself_is_refused() -> None:
    """Who follows it would never arrive."""
    first = Origin("relu")
    second = Origin("linear", (first,))
    assert decode(encode(second, records()), records()).inputs[0].op == "relu"
    first.inputs = (second,)
    with pytest.raises(StepscopeError, match="Origin: one comes before itself"):
        decode(encode(second, records()), records())
