from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import geocast

PUBLIC = {
    "AsyncClient",
    "Client",
    "ConflictError",
    "FilterLimitError",
    "FilterSyntaxError",
    "FilterTypeError",
    "GeocastError",
    "InputError",
    "LanguageError",
    "Matcher",
    "Predicate",
    "Reject",
    "RejectedWarning",
    "Rejects",
    "ServiceError",
    "StateError",
    "UnknownNameError",
    "__version__",
    "match",
}


def modules() -> list[str]:
    found = pkgutil.walk_packages(geocast.__path__, prefix="geocast.")
    return ["geocast", *(module.name for module in found if not module.name.endswith("__main__"))]


def test_the_public_surface() -> None:
    assert set(geocast.__all__) == PUBLIC


def test_match_is_a_function_and_a_package() -> None:
    assert callable(geocast.match)
    assert isinstance(importlib.import_module("geocast.match.index"), ModuleType)
    assert callable(geocast.match)


def test_signatures_that_users_rely_on() -> None:
    assert list(inspect.signature(geocast.match).parameters) == [
        "subscriptions",
        "publications",
        "rejects",
    ]
    assert list(inspect.signature(geocast.Matcher).parameters) == ["subscriptions", "index"]
    client = ["url", "token", "retries", "timeout", "patience", "ca", "transport"]
    for kind in (geocast.Client, geocast.AsyncClient):
        assert list(inspect.signature(kind).parameters) == client
    spark = importlib.import_module("geocast.spark")
    assert list(inspect.signature(spark.match).parameters) == [
        "publications",
        "subscriptions",
        "algorithm",
        "partitions",
        "cells",
        "merge",
        "pairs",
        "rejects",
    ]


@pytest.mark.parametrize("name", modules())
def test_every_name_in_all_exists(name: str) -> None:
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None)
    if names is None:
        assert not any(_public_here(module)), f"{name} has public names but no __all__"
        return
    assert len(set(names)) == len(names)
    missing = [entry for entry in names if not hasattr(module, entry)]
    assert missing == []


def _public_here(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
