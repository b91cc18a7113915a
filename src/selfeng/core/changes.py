"""Changes: the one way to listen to something, on one event loop."""

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Changes(Generic[P]):
    """Passes changes on to those who listen."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[P, object]] = {}

    def subscribe(self, listener: Callable[P, object]) -> Callable[[], None]:
        """Call `listener` with every change from now on; returns a function that ends this."""
        key = object()
        self._listeners[key] = listener

        def unsubscribe() -> None:
            self._listeners.pop(key, None)

        return unsubscribe

    def tell(self, *change: P.args, **kwargs: P.kwargs) -> None:
        for listener in tuple(self._listeners.values()):
            listener(*change, **kwargs)


class Renewed(Generic[T]):
    """What is made again after each change; callers that began with the former one keep it."""

    def __init__(self, make: Callable[[], T], changed: Changes[[]]) -> None:
        self.current = make()
        self._make = make
        changed.subscribe(self._renew)

    def _renew(self) -> None:
        self.current = self._make()
