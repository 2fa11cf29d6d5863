"""The project's own `dataclass` makes what the standard one makes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Iterator
from functools import partial

import pytest

from hacheck.model import data
from hacheck.model.runs import Step


def classes(dataclass: object) -> Iterator[type]:
    """The same classes, made by one decorator or the other."""

    @dataclass(frozen=True, slots=True)  # type: ignore[operator]
    class Point:
        """A point."""

        x: int
        y: tuple[int, ...] = (1, 2)
        z: list[int] = dataclasses.field(default_factory=list)

        @property
        def both(self) -> tuple[object, ...]:
            return self.x, self.y

    @dataclass(frozen=True, slots=True)  # type: ignore[operator]
    class Marked(Point):
        mark: str = "m"

    @dataclass(slots=True)  # type: ignore[operator]
    class Counter:
        count: int = 0

    @dataclass(frozen=True, slots=True)  # type: ignore[operator]
    class Nothing:
        pass

    @dataclass(frozen=True, slots=True, eq=False)  # type: ignore[operator]
    class Single:
        value: int

    yield from (Point, Marked, Counter, Nothing, Single)


PAIRS = [(own, standard) for own, standard in zip(classes(data.dataclass), classes(dataclasses.dataclass), strict=True)]


def outcome(action: object) -> object:
    """What an action returns, as text; or the kind of error it ends in."""
    try:
        return repr(action())  # type: ignore[operator]
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(("own", "standard"), PAIRS, ids=lambda made: made.__name__)
def test_objects_are_made_shown_and_described_alike(own: type, standard: type) -> None:
    for arguments, named in (
        ((), {}),
        ((1,), {}),
        ((1, 2), {}),
        ((1,), {"y": (3,)}),
        ((), {"nowhere": 1}),
        ((1, 2, 3, 4, 5), {}),
    ):
        assert outcome(partial(own, *arguments, **named)) == outcome(partial(standard, *arguments, **named))
    assert own.__match_args__ == standard.__match_args__  # type: ignore[attr-defined]
    assert own.__slots__ == standard.__slots__  # type: ignore[attr-defined]
    described = [(item.name, item.type, item.default) for item in dataclasses.fields(own)]
    assert described == [(item.name, item.type, item.default) for item in dataclasses.fields(standard)]
    assert own.__doc__ is None or own.__doc__ == standard.__doc__


@pytest.mark.parametrize(("own", "standard"), PAIRS, ids=lambda made: made.__name__)
def test_objects_are_compared_hashed_copied_and_kept_alike(own: type, standard: type) -> None:
    def found(made: type) -> list[object]:
        given = () if made.__name__ in ("Nothing", "Counter") else (1,)
        one, other = made(*given), made(*given)
        changed = [outcome(partial(setattr, one, item.name, 2)) for item in dataclasses.fields(one)]
        hashed = outcome(lambda: hash(one) == hash(other))
        copied = dataclasses.replace(one) if dataclasses.is_dataclass(one) else None  # type: ignore[type-var]
        return [
            one == other,
            one != other,
            one == 1,
            changed,
            hashed,
            copied == one,
            copy.copy(one) == one,
            one.__hash__ is None,
        ]

    assert found(own) == found(standard)


def test_what_is_frozen_is_not_changed() -> None:
    point = next(classes(data.dataclass))(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert point.both == (1, (1, 2))


def test_each_object_has_a_list_of_its_own() -> None:
    made = next(classes(data.dataclass))
    assert made(1).z is not made(1).z


def test_objects_survive_pickling() -> None:
    step = Step(1, (2,), (), ((3,),))
    assert pickle.loads(pickle.dumps(step)) == step
