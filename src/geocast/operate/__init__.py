"""What every process of a service needs: where things are, how it is set, what it says, counts."""

from geocast.operate.durable import TEMPORARY, sync, write_durably
from geocast.operate.journal import open_journal
from geocast.operate.metrics import metrics, render, share_metrics
from geocast.operate.process import (
    allow_many_files,
    die_with_parent,
    hold_lock,
    is_held,
    stop_on_signals,
)
from geocast.operate.settings import Place, Settings

__all__ = [
    "TEMPORARY",
    "Place",
    "Settings",
    "allow_many_files",
    "die_with_parent",
    "hold_lock",
    "is_held",
    "metrics",
    "open_journal",
    "render",
    "share_metrics",
    "stop_on_signals",
    "sync",
    "write_durably",
]
