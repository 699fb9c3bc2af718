"""What every process of a service needs: where things are, how it is set, what it says, counts."""

from geocast.operate.durable import TEMPORARY, sync, write_durably
from geocast.operate.folders import on_this_machine
from geocast.operate.identity import is_gone, process_name, process_of, this_process
from geocast.operate.journal import open_journal
from geocast.operate.metrics import metrics, render, share_metrics
from geocast.operate.process import (
    allow_many_files,
    die_with_parent,
    hold_lock,
    is_held,
    stop_on_signals,
)
from geocast.operate.readings import Readings, Spread, read_metrics
from geocast.operate.settings import Place, Settings
from geocast.operate.tls import Certificate

__all__ = [
    "TEMPORARY",
    "Certificate",
    "Place",
    "Readings",
    "Settings",
    "Spread",
    "allow_many_files",
    "die_with_parent",
    "hold_lock",
    "is_gone",
    "is_held",
    "metrics",
    "on_this_machine",
    "open_journal",
    "process_name",
    "process_of",
    "read_metrics",
    "render",
    "share_metrics",
    "stop_on_signals",
    "sync",
    "this_process",
    "write_durably",
]
