"""Whether a product's state is the model's, as far as the product shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hacheck.replay.model_run import Json


def differences(state: Mapping[str, Json], observed: Mapping[str, Json], identities: frozenset[str]) -> tuple[str, ...]:
    """What differs, in words. `observed`: a part of the variables, and of maps a part of the keys. `identities`: the
    variables whose values are names: they are compared up to renaming, so two that are one in the model must be one in
    the product, and the other way round."""
    found: list[str] = []
    names: dict[Json, Json] = {}
    for variable, value in observed.items():
        if variable not in state:
            found.append(f"the model has no variable {variable}")
            continue
        for place, real, wanted in _leaves(variable, value, state[variable]):
            if variable in identities and wanted is not None and real is not None:
                known = names.setdefault(wanted, real)
                if known != real:
                    found.append(f"{place} is {real}; the model has one name here and where the product has {known}")
            elif _plain(real) != _plain(wanted):
                found.append(f"{place} is {_shown(real)}, in the model {_shown(wanted)}")
    if len(set(names.values())) < len(names):
        found.append("the product has one name where the model has several")
    return tuple(found)


def _leaves(place: str, real: Json, wanted: Json) -> Iterator[tuple[str, Json, Json]]:
    """The parts that are observed, each with what the model has there."""
    if isinstance(real, Mapping) and isinstance(wanted, Mapping):
        owner, dot, name = place.partition(".")
        for key, value in real.items():
            inner = f"{owner} {key}.{name}" if dot and " " not in owner else f"{place}[{key}]"
            yield from _leaves(inner, value, wanted.get(str(key)))
    else:
        yield place, real, wanted


def _plain(value: Json) -> Json:
    """Sets and sequences compared as what they hold, whatever their order."""
    return sorted(value, key=repr) if isinstance(value, list | tuple | set | frozenset) else value


def _shown(value: Json) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | set | frozenset):
        return "{" + ", ".join(str(item) for item in sorted(value, key=repr)) + "}"
    return str(value)
