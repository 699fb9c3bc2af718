"""The operands of constraints on one batch, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geocast.language.kinds import Kind, kind_of
from geocast.language.strings import FOLDS
from geocast.language.tree import (
    Arithmetic,
    Boolean,
    Fold,
    Instant,
    Number,
    Property,
    Scalar,
    Text,
)
from geocast.match.content import arrays, extract
from geocast.match.content.arithmetic import compute
from geocast.match.content.columns import Piece, find_column
from geocast.match.content.values import Booleans, Instants, Mask, Numbers, Strings, Truth

__all__ = ["Operands"]

_EXACT = 2**53
_INT64 = np.iinfo(np.int64)
_CERTAIN = np.array([True])
_T = TypeVar("_T")


class Operands:
    """Values of scalar nodes on a batch, by the kind in which they are needed."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch
        self._length = batch.num_rows
        self._cache: dict[Any, Any] = {}

    def _once(self, key: Any, make: Callable[[], _T]) -> _T:
        if key not in self._cache:
            self._cache[key] = make()
        result: _T = self._cache[key]
        return result

    def _pieces(self, name: str) -> list[Piece]:
        return self._once(("pieces", name), lambda: find_column(self._batch, name))

    def present(self, name: str) -> Mask:
        """Return where a property has a value of whatever kind."""
        pieces = self._pieces(name)
        return self._once(("present", name), lambda: extract.present(pieces, self._length))

    def of(self, kind: Kind, node: Scalar) -> Any:
        """Return the values of one of the four scalar kinds."""
        return {
            Kind.NUMBER: self.numbers,
            Kind.TEXT: self.strings,
            Kind.BOOLEAN: self.booleans,
            Kind.INSTANT: self.instants,
        }[kind](node)

    def numbers(self, node: Scalar) -> Numbers:
        """Return the numbers of a property, literal or arithmetic expression."""
        return self._once(("numbers", node), lambda: self._numbers(node))

    def _numbers(self, node: Scalar) -> Numbers:
        match node:
            case Number(value):
                return Numbers(_number_array([value]), _CERTAIN)
            case Arithmetic(op, left, right):
                return compute(op, self.numbers(left), self.numbers(right))
            case Property(name):
                return extract.numbers(self._pieces(name), self._length)
        return Numbers(np.zeros(1), ~_CERTAIN)

    def strings(self, node: Scalar) -> Strings:
        """Return the strings of a property or literal, folded where CASEI or ACCENTI ask."""
        return self._once(("strings", node), lambda: self._strings(node))

    def _strings(self, node: Scalar) -> Strings:
        match node:
            case Text(value):
                return Strings(pa.array([value], pa.large_string()), _CERTAIN)
            case Fold(name, operand):
                return _folded(self.strings(operand), FOLDS[name])
            case Property(name):
                return extract.strings(self._pieces(name), self._length)
        return Strings(pa.nulls(1, pa.large_string()), ~_CERTAIN)

    def booleans(self, node: Scalar) -> Booleans:
        """Return the booleans of a property or literal."""
        return self._once(("booleans", node), lambda: self._booleans(node))

    def _booleans(self, node: Scalar) -> Booleans:
        if isinstance(node, Boolean):
            return Booleans(np.array([node.value]), _CERTAIN)
        pieces = self._pieces(node.name) if isinstance(node, Property) else []
        return extract.booleans(pieces, self._length)

    def instants(self, node: Scalar) -> Instants:
        """Return the dates and times of a property or literal, written as strings or not."""
        if isinstance(node, Instant):
            micros, day = np.array([node.micros], np.int64), np.array([node.day])
            return Instants(micros, _CERTAIN, day)
        return self._instants(node, lambda kind: extract.is_time(kind) or extract.is_text(kind))

    def times(self, node: Scalar) -> Instants:
        """Return the dates and times that a property has as such."""
        return self._instants(node, extract.is_time)

    def written_times(self, node: Scalar) -> Instants:
        """Return the dates and times that a property has as strings."""
        return self._instants(node, extract.is_text)

    def _instants(self, node: Scalar, accepts: Callable[[pa.DataType], bool]) -> Instants:
        pieces = self._pieces(node.name) if isinstance(node, Property) else []
        types = frozenset(str(p.array.type) for p in pieces if accepts(p.array.type))
        return self._once(
            ("instants", node, types), lambda: extract.instants(pieces, self._length, accepts)
        )

    def elements(self, node: Scalar) -> arrays.Elements:
        """Return the elements of a property that is a list."""
        pieces = self._pieces(node.name) if isinstance(node, Property) else []
        return self._once(("elements", node), lambda: arrays.list_elements(pieces, self._length))

    def listed(self, items: Sequence[Scalar]) -> arrays.Elements:
        """Return the elements of an array written in the expression."""
        result = arrays.Elements(np.ones(self._length, np.bool_))
        rows = np.arange(self._length)
        for item in items:
            values = self._by_kind(item)
            result.groups += [(value, rows) for value in values]
            usable = np.logical_or.reduce([value.valid for value in values])
            result.strange.append(rows[np.broadcast_to(~usable, len(rows))])
        return result

    def _by_kind(self, node: Scalar) -> list[arrays.Value]:
        if kind_of(node) is not Kind.ANY:
            return [self.of(kind_of(node), node)]
        return [self.numbers(node), self.strings(node), self.booleans(node), self.times(node)]

    def among(self, value: Scalar, items: Sequence[Scalar]) -> Truth | None:
        """Look values up in a set of literals of one kind; None if that is not exact or useful."""
        if all(isinstance(item, Text) for item in items):
            texts = self.strings(value)
            pool = pa.array(
                [item.value for item in items if isinstance(item, Text)], pa.large_string()
            )
            found = np.asarray(pc.is_in(texts.data, value_set=pool))
            return Truth(found & texts.valid, texts.valid)
        if all(isinstance(item, Number) for item in items):
            numbers = self.numbers(value)
            wanted = _number_array([item.value for item in items if isinstance(item, Number)])
            if numbers.data.dtype == np.float64 and _all_exact(wanted):
                wanted = wanted.astype(np.float64)
            if numbers.data.dtype == wanted.dtype != object:
                return Truth(np.isin(numbers.data, wanted) & numbers.valid, numbers.valid)
        return None


def _number_array(values: Sequence[int | float]) -> np.ndarray[Any, Any]:
    """Return numbers in the plainest type that holds all exactly."""
    if all(isinstance(v, int) and _INT64.min <= v <= _INT64.max for v in values):
        return np.array(values, np.int64)
    if all(isinstance(v, float) or abs(v) <= _EXACT for v in values):
        return np.array(values, np.float64)
    return np.array(values, object)


def _all_exact(values: np.ndarray[Any, Any]) -> bool:
    return values.dtype == np.float64 or bool((np.abs(values) <= _EXACT).all())


def _folded(strings: Strings, fold: Callable[[str], str]) -> Strings:
    """Fold each distinct string once."""
    encoded = strings.data.dictionary_encode()
    folded = [fold(text) for text in encoded.dictionary.to_pylist()]
    data = pa.array(folded, pa.large_string()).take(encoded.indices)
    return Strings(data, strings.valid)
