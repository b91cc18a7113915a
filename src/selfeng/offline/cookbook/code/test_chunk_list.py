import pytest
from chunk_list import chunk_list


def test_chunks_have_the_size():
    assert chunk_list(items=[1, 2, 3, 4], size=2) == [[1, 2], [3, 4]]


def test_last_chunk_may_be_shorter():
    assert chunk_list(items=["a", "b", "c", "d", "e"], size=2) == [["a", "b"], ["c", "d"], ["e"]]


def test_large_size_gives_one_chunk():
    assert chunk_list(items=[1, 2, 3], size=10) == [[1, 2, 3]]


def test_empty_list_has_no_chunks():
    assert chunk_list(items=[], size=3) == []


def test_size_below_one_is_refused():
    with pytest.raises(ValueError):
        chunk_list(items=[1, 2], size=0)
