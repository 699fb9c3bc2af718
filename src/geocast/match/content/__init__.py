"""Conditions on attributes: evaluated on Arrow columns, each distinct constraint once a batch."""

from geocast.match.content.evaluate import evaluate
from geocast.match.content.scan import Scan

__all__ = ["Scan", "evaluate"]
