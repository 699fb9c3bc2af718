"""Matching on Spark: algorithms, and what carries publications to them and matches away.

What is named here is imported when it is first asked for: a process of Spark that only reads a log
need not load the matching core.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geocast.pipeline.auto import Choice, choose
    from geocast.pipeline.base import Algorithm, Answered, Reader, Writer
    from geocast.pipeline.job import Progress, run_job
    from geocast.pipeline.pieces import Piece
    from geocast.pipeline.registry import CELLS, make_algorithm
    from geocast.pipeline.session import check_master, spark_session
    from geocast.pipeline.splits import PublicationFile, Split, open_publications
    from geocast.pipeline.subscriptions import Subscriptions, read_subscriptions
    from geocast.pipeline.variants import (
        REPRESENTATIVES,
        Variant,
        algorithm_names,
        check_name,
        is_auto,
        parse_name,
        variant_names,
    )

__all__ = [
    "CELLS",
    "REPRESENTATIVES",
    "Algorithm",
    "Answered",
    "Choice",
    "Piece",
    "Progress",
    "PublicationFile",
    "Reader",
    "Split",
    "Subscriptions",
    "Variant",
    "Writer",
    "algorithm_names",
    "check_master",
    "check_name",
    "choose",
    "is_auto",
    "make_algorithm",
    "open_publications",
    "parse_name",
    "read_subscriptions",
    "run_job",
    "spark_session",
    "variant_names",
]

_HOMES = {
    "Choice": "geocast.pipeline.auto",
    "choose": "geocast.pipeline.auto",
    "Algorithm": "geocast.pipeline.base",
    "Answered": "geocast.pipeline.base",
    "Reader": "geocast.pipeline.base",
    "Writer": "geocast.pipeline.base",
    "Progress": "geocast.pipeline.job",
    "run_job": "geocast.pipeline.job",
    "Piece": "geocast.pipeline.pieces",
    "CELLS": "geocast.pipeline.registry",
    "make_algorithm": "geocast.pipeline.registry",
    "REPRESENTATIVES": "geocast.pipeline.variants",
    "Variant": "geocast.pipeline.variants",
    "algorithm_names": "geocast.pipeline.variants",
    "check_name": "geocast.pipeline.variants",
    "is_auto": "geocast.pipeline.variants",
    "parse_name": "geocast.pipeline.variants",
    "variant_names": "geocast.pipeline.variants",
    "check_master": "geocast.pipeline.session",
    "spark_session": "geocast.pipeline.session",
    "PublicationFile": "geocast.pipeline.splits",
    "Split": "geocast.pipeline.splits",
    "open_publications": "geocast.pipeline.splits",
    "Subscriptions": "geocast.pipeline.subscriptions",
    "read_subscriptions": "geocast.pipeline.subscriptions",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
