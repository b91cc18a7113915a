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


_MOST = 16


class Renewed(Generic[T]):
    """An object that is made again after each change; callers that began with the former one keep
    it.
    """

    def __init__(self, make: Callable[[str], T], changed: Changes[[]]) -> None:
        """`make` gets the name of a variant, "" for the usual."""
        self.current = make("")
        self._make, self._variants = make, dict[str, T]()
        changed.subscribe(self._renew)

    def variant(self, name: str) -> T:
        """The variant of this name; the 16 that were made last are kept."""
        if not name:
            return self.current
        if name not in self._variants:
            if len(self._variants) == _MOST:
                del self._variants[next(iter(self._variants))]
            self._variants[name] = self._make(name)
        return self._variants[name]

    def _renew(self) -> None:
        self.current, self._variants = self._make(""), {}
