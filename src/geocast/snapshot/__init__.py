"""Immutable versions of all subscriptions, as files that many processes map into memory.

    DIR/parts/<name>/       a saved matcher whose subscriptions are version numbers, and these
                            numbers, sorted, in vnumbers.npy; complete when its manifest is there.
                            A large one may be divided among partitions; its name says how
    DIR/tombstones/<v>.npy  numbers that are in parts but stand no more, sorted
    DIR/versions/<v>.json   a version: which parts, which tombstones; written last, in one step

A change makes one small part and a new list of tombstones, and touches nothing that is there. Parts
are joined in the background: `plan_merge`, `merge`, `install`. Machines that do not see the
directory fetch the versions that they need: `SnapshotServer`, `SnapshotPlace`.
"""

from geocast.snapshot.layout import Version
from geocast.snapshot.matcher import OpenVersion, SnapshotAnswer, SnapshotMatcher
from geocast.snapshot.mirror import SnapshotPlace
from geocast.snapshot.part import Part
from geocast.snapshot.plan import MergePlan
from geocast.snapshot.serve import SnapshotServer
from geocast.snapshot.store import SnapshotStore

__all__ = [
    "MergePlan",
    "OpenVersion",
    "Part",
    "SnapshotAnswer",
    "SnapshotMatcher",
    "SnapshotPlace",
    "SnapshotServer",
    "SnapshotStore",
    "Version",
]
