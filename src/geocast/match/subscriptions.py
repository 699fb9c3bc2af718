"""A table of subscriptions, read column by column: good ones as rows, bad ones as rejects.

Nothing is done twice: geometries, predicates and filters that repeat are looked at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.errors import GeocastError, InputError
from geocast.language import Filter, NormalForm, normalise
from geocast.match.columns import (
    Identified,
    binary_column,
    require_table,
    string_column,
    string_ids,
)
from geocast.match.geometry.decode import Geometries, decode_distinct
from geocast.match.rows import POSITIVE, RowBuilder, Rows
from geocast.model import Predicate, Rejects

__all__ = ["Subscriptions", "read_subscriptions"]

_ALWAYS = NormalForm((Filter(),))
_NONE = -1


@dataclass(frozen=True)
class Subscriptions:
    """What a table of subscriptions says: ids in order, rows numbered by those, geometries."""

    ids: pa.StringArray
    rows: Rows
    geometries: Geometries
    rejects: Rejects

    @property
    def bounded(self) -> NDArray[np.bool_]:
        """Which subscriptions can match only where their boxes are: nothing `disjoint`."""
        elsewhere = self.rows.subscription[self.rows.kind != POSITIVE]
        bounded = np.ones(len(self.ids), np.bool_)
        bounded[elsewhere] = False
        return bounded

    def boxes(self) -> NDArray[np.float64]:
        """Return the box around all geometries of each bounded subscription."""
        own = np.flatnonzero(self.rows.kind == POSITIVE)
        bounds = self.geometries.shapes.bounds[self.geometries.number[self.rows.geometry[own]]]
        boxes = np.tile(np.array([np.inf, np.inf, -np.inf, -np.inf]), (len(self.ids), 1))
        for side, widest in ((0, np.minimum), (1, np.minimum), (2, np.maximum), (3, np.maximum)):
            widest.at(boxes[:, side], self.rows.subscription[own], bounds[:, side])
        return boxes

    def select(self, numbers: NDArray[np.int64]) -> Subscriptions:
        """Return only these subscriptions, numbers ascending; they are numbered anew from 0."""
        place = np.full(len(self.ids), _NONE, np.int32)
        place[numbers] = np.arange(len(numbers))
        kept = np.flatnonzero(place[self.rows.subscription] != _NONE)
        used, rest = np.unique(self.rows.rest[kept], return_inverse=True)
        rows = Rows(
            subscription=place[self.rows.subscription[kept]],
            geometry=self.rows.geometry[kept],
            predicate=self.rows.predicate[kept],
            kind=self.rows.kind[kept],
            rest=rest.astype(np.int32),
            rests=[self.rows.rests[number] for number in used],
        )
        return Subscriptions(self.ids.take(pa.array(numbers)), rows, self.geometries, Rejects())


@dataclass
class _Reader:
    """The columns of the table; `reason` is "" for a row that is still good."""

    ids: Identified
    reason: NDArray[np.object_]

    def reject(self, bad: NDArray[np.bool_], reasons: NDArray[np.object_] | str) -> None:
        """Note the reason of bad rows that have none yet."""
        fresh = bad & (self.reason == "")
        self.reason[fresh] = reasons if isinstance(reasons, str) else reasons[fresh]


def read_subscriptions(table: pa.Table) -> Subscriptions:
    """Read a table of subscriptions; see `geocast.model.schema` for its columns.

    Raises InputError where a column is missing or of a type that cannot hold what it should.
    """
    require_table(table, "subscriptions")
    if "geometry" not in table.column_names and "filter" not in table.column_names:
        raise InputError("subscriptions have neither a column 'geometry' nor a column 'filter'")
    ids = string_ids(table, "subscriptions")
    reader = _Reader(ids, np.full(len(table), "", dtype=object))
    for row, reason in ids.reasons.items():
        reader.reason[row] = reason
    geometry, encoded = _read_geometries(table, reader)
    predicate = _read_predicates(table, reader, geometry != _NONE)
    form, forms = _read_filters(table, reader)
    reader.reject((geometry == _NONE) & (form == _NONE), "has neither a geometry nor a filter")
    _reject_duplicates(reader)
    good = np.flatnonzero(reader.reason == "")
    return _collect(reader, good, geometry, predicate, form, forms, encoded)


def _read_geometries(table: pa.Table, reader: _Reader) -> tuple[NDArray[np.int64], Geometries]:
    """Return the number of each row's geometry among the distinct ones, and those."""
    if "geometry" not in table.column_names:
        return np.full(len(table), _NONE, np.int64), decode_distinct(pa.array([], pa.binary()))
    encoded = pc.dictionary_encode(binary_column(table, "geometry", "subscriptions"))
    codes = encoded.indices.fill_null(_NONE).to_numpy(zero_copy_only=False).astype(np.int64)
    geometries = decode_distinct(encoded.dictionary)
    reasons = np.append(geometries.reason, "")
    reader.reject(reasons[codes] != "", reasons[codes])
    return codes, geometries


def _read_predicates(
    table: pa.Table, reader: _Reader, has_geometry: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return each row's predicate; one without a geometry says that the geometry was lost."""
    default = np.full(len(table), int(Predicate.INTERSECTS), np.int64)
    if "predicate" not in table.column_names:
        return default
    encoded = pc.dictionary_encode(string_column(table, "predicate", "subscriptions"))
    codes = encoded.indices.fill_null(_NONE).to_numpy(zero_copy_only=False)
    known = np.full(len(encoded.dictionary) + 1, int(Predicate.INTERSECTS), np.int64)
    reasons = np.full(len(known), "", dtype=object)
    for k, name in enumerate(encoded.dictionary.to_pylist()):
        try:
            known[k] = Predicate.parse(name)
        except InputError as error:
            reasons[k] = str(error)
    reader.reject(reasons[codes] != "", reasons[codes])
    reader.reject((codes != _NONE) & ~has_geometry, "has a predicate, but no geometry")
    return known[codes]


def _read_filters(table: pa.Table, reader: _Reader) -> tuple[NDArray[np.int64], list[NormalForm]]:
    """Return the number of each row's filter, or _NONE, and the distinct normal forms."""
    if "filter" not in table.column_names:
        return np.full(len(table), _NONE, np.int64), []
    encoded = pc.dictionary_encode(string_column(table, "filter", "subscriptions"))
    codes = encoded.indices.fill_null(_NONE).to_numpy(zero_copy_only=False).astype(np.int64)
    texts = encoded.dictionary.to_pylist()
    reasons = np.full(len(texts) + 1, "", dtype=object)
    forms: list[NormalForm] = []
    for k, text in enumerate(texts):
        try:
            forms.append(normalise(text) if text.strip() else _ALWAYS)
        except GeocastError as error:
            forms.append(_ALWAYS)
            reasons[k] = str(error)
    reader.reject(reasons[codes] != "", reasons[codes])
    blank = np.array([not text.strip() for text in texts] + [False])
    codes[blank[codes]] = _NONE
    return codes, forms


def _reject_duplicates(reader: _Reader) -> None:
    """Of good rows with one id the first counts; the others say which row that is."""
    good = np.flatnonzero(reader.reason == "")
    ids = reader.ids.values.take(pa.array(good))
    codes = pc.dictionary_encode(ids).indices.to_numpy(zero_copy_only=False)
    _, first = np.unique(codes, return_index=True)
    repeats = np.ones(len(good), np.bool_)
    repeats[first] = False
    for k in np.flatnonzero(repeats):
        reader.reason[good[k]] = "id is already used by an earlier row"


def _collect(
    reader: _Reader,
    good: NDArray[np.int64],
    geometry: NDArray[np.int64],
    predicate: NDArray[np.int64],
    form: NDArray[np.int64],
    forms: list[NormalForm],
    geometries: Geometries,
) -> Subscriptions:
    """Number the good rows by the order of their ids, and make their filters rows."""
    kept = reader.ids.values.take(pa.array(good))
    order = pc.sort_indices(kept).to_numpy()
    rank = np.empty(len(good), np.int64)
    rank[order] = np.arange(len(good))
    builder = RowBuilder(len(geometries.reason))
    plain = geometry[good] != _NONE
    by_form = form[good]
    order_by_form = np.argsort(by_form, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(by_form[order_by_form]) != 0])
    for group in np.split(order_by_form, starts[1:]) if len(good) else []:
        number = by_form[group[0]]
        filters = (forms[number] if number != _NONE else _ALWAYS).filters
        own = group[plain[group]]
        if len(own):
            builder.add_plain(rank[own], geometry[good[own]], predicate[good[own]], filters)
        for k in group[~plain[group]]:
            builder.add_filters(int(rank[k]), filters)
    rejects = Rejects()
    for row in np.flatnonzero(reader.reason != ""):
        rejects.add("subscriptions", int(row), reader.ids.text(int(row)), reader.reason[row])
    literals = decode_distinct(pa.array(builder.literals, pa.binary()))
    return Subscriptions(
        kept.take(pa.array(order)), builder.rows(), geometries.extended(literals), rejects
    )
