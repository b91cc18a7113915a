from typing import Any


def flatten_list(items: list[Any]) -> list[Any]:
    """Flatten a list of lists, however deep they are nested, into one list.

    Args:
        items: A list whose items may be lists again.

    Returns:
        All items that are not lists, in order.
    """
    flat: list[Any] = []
    rest = list(reversed(items))
    while rest:
        item = rest.pop()
        if isinstance(item, list):
            rest.extend(reversed(item))
        else:
            flat.append(item)
    return flat
