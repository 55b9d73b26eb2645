"""An attribute that is computed when first asked for.

`functools.cached_property` takes a lock on every first access in Python 3.11; evidence belongs to one request and needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazy", "share", "shared"]

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  (used like `property`)
    """Computes the value once and keeps it in the instance, where later look-ups find it without coming here."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type[Any]) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any]) -> lazy[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


class shared(lazy[T]):  # noqa: N801  (used like `property`)
    """One whose value holds for a variant of the instance too; `share` hands it on."""


def share(source: object, variant: object) -> None:
    """Give a variant of an instance the shared values that the instance has computed."""
    declared, known = vars(type(source)), vars(source)
    vars(variant).update({name: value for name, value in known.items() if isinstance(declared.get(name), shared)})
