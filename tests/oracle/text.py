"""CQL2 text to the CQL2 JSON form, by recursive descent along the grammar of OGC 21-065r2.

The parser does not look at types: `evaluate` gives NULL where an operand is of the wrong one.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.lexer import TextError, Token, tokens
from tests.oracle.literals import geometry_from

__all__ = ["SPATIAL_FUNCTIONS", "TextError", "parse_text"]

_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")
SPATIAL_FUNCTIONS = frozenset(
    [
        "s_intersects",
        "s_equals",
        "s_disjoint",
        "s_touches",
        "s_within",
        "s_overlaps",
        "s_crosses",
        "s_contains",
        "s_covers",
        "s_coveredby",
    ]
)
_TEMPORAL_FUNCTIONS = frozenset(
    [
        "t_after",
        "t_before",
        "t_contains",
        "t_disjoint",
        "t_during",
        "t_equals",
        "t_finishedby",
        "t_finishes",
        "t_intersects",
        "t_meets",
        "t_metby",
        "t_overlappedby",
        "t_overlaps",
        "t_startedby",
        "t_starts",
    ]
)
_ARRAY_FUNCTIONS = frozenset(["a_equals", "a_contains", "a_containedby", "a_overlaps"])
_TEXT_FUNCTIONS = frozenset(("casei", "accenti"))
_GEOMETRIES = frozenset(
    [
        "POINT",
        "LINESTRING",
        "POLYGON",
        "MULTIPOINT",
        "MULTILINESTRING",
        "MULTIPOLYGON",
        "GEOMETRYCOLLECTION",
        "BBOX",
    ]
)
_JSON_NAMES = {
    name.lower(): name
    for name in (
        "a_containedBy",
        "t_finishedBy",
        "t_metBy",
        "t_overlappedBy",
        "t_startedBy",
    )
}
_RESERVED = frozenset(["AND", "OR", "NOT", "IS", "NULL", "LIKE", "BETWEEN", "IN", "DIV"])


def parse_text(text: str) -> Any:
    """Return the CQL2 JSON of a CQL2 text; raise TextError if it is none."""
    parser = _Parser(tokens(text))
    tree = parser.disjunction()
    parser.expect_end()
    return tree


class _Parser:
    def __init__(self, stream: list[Token]) -> None:
        self._stream = stream
        self._at = 0

    @property
    def _now(self) -> Token:
        return self._stream[self._at]

    def _next(self) -> Token:
        token = self._now
        self._at += 1
        return token

    def _fault(self, wanted: str) -> TextError:
        return TextError(f"{wanted} expected at {self._now.position}")

    def expect_end(self) -> None:
        if self._now.kind != "end":
            raise self._fault("the end")

    def _take_word(self, *words: str) -> bool:
        if self._now.is_word(*words):
            self._at += 1
            return True
        return False

    def _take_symbol(self, symbol: str) -> bool:
        if self._now.is_symbol(symbol):
            self._at += 1
            return True
        return False

    def _expect_symbol(self, symbol: str) -> None:
        if not self._take_symbol(symbol):
            raise self._fault(repr(symbol))

    def _expect_word(self, word: str) -> None:
        if not self._take_word(word):
            raise self._fault(word)

    def _expect_string(self) -> str:
        if self._now.kind != "string":
            raise self._fault("a character literal")
        return self._next().text

    def disjunction(self) -> Any:
        terms = [self._conjunction()]
        while self._take_word("OR"):
            terms.append(self._conjunction())
        return terms[0] if len(terms) == 1 else {"op": "or", "args": terms}

    def _conjunction(self) -> Any:
        terms = [self._factor()]
        while self._take_word("AND"):
            terms.append(self._factor())
        return terms[0] if len(terms) == 1 else {"op": "and", "args": terms}

    def _factor(self) -> Any:
        if self._take_word("NOT"):
            return _negated(self._factor())
        return self._predicate()

    def _predicate(self) -> Any:
        left = self._sum()
        if self._now.is_symbol(*_COMPARISONS):
            return {"op": self._next().text, "args": [left, self._sum()]}
        if self._take_word("IS"):
            negative = self._take_word("NOT")
            self._expect_word("NULL")
            tree = {"op": "isNull", "args": [left]}
            return _negated(tree) if negative else tree
        negative = self._take_word("NOT")
        tree = self._advanced(left)
        if tree is None:
            if negative:
                raise self._fault("LIKE, BETWEEN or IN")
            return left
        return _negated(tree) if negative else tree

    def _advanced(self, left: Any) -> Any:
        if self._take_word("LIKE"):
            return {"op": "like", "args": [left, self._pattern()]}
        if self._take_word("BETWEEN"):
            low = self._sum()
            self._expect_word("AND")
            return {"op": "between", "args": [left, low, self._sum()]}
        if self._take_word("IN"):
            self._expect_symbol("(")
            items = [self._sum()]
            while self._take_symbol(","):
                items.append(self._sum())
            self._expect_symbol(")")
            return {"op": "in", "args": [left, items]}
        return None

    def _pattern(self) -> Any:
        if self._now.is_word("CASEI", "ACCENTI"):
            name = self._next().text.lower()
            self._expect_symbol("(")
            inner = self._pattern()
            self._expect_symbol(")")
            return {"op": name, "args": [inner]}
        return self._expect_string()

    def _sum(self) -> Any:
        tree = self._product()
        while self._now.is_symbol("+", "-"):
            tree = {"op": self._next().text, "args": [tree, self._product()]}
        return tree

    def _product(self) -> Any:
        tree = self._power()
        while self._now.is_symbol("*", "/", "%") or self._now.is_word("DIV"):
            tree = {"op": self._next().text.lower(), "args": [tree, self._power()]}
        return tree

    def _power(self) -> Any:
        base = self._signed()
        if self._take_symbol("^"):
            return {"op": "^", "args": [base, self._signed()]}
        return base

    def _signed(self) -> Any:
        if self._take_symbol("-"):
            operand = self._primary()
            if isinstance(operand, int | float) and not isinstance(operand, bool):
                return -operand
            return {"op": "*", "args": [-1, operand]}
        if self._now.is_symbol("+") and self._stream[self._at + 1].kind == "number":
            self._next()
        return self._primary()

    def _primary(self) -> Any:
        token = self._now
        if token.kind == "number":
            return _number(self._next().text)
        if token.kind == "string":
            return self._next().text
        if token.kind == "quoted":
            return {"property": self._next().text}
        if self._take_symbol("("):
            tree = self.disjunction()
            self._expect_symbol(")")
            return tree
        if token.kind == "name":
            return self._named()
        raise self._fault("a value")

    def _named(self) -> Any:
        word = self._next().text
        upper, lower = word.upper(), word.lower()
        if upper in ("TRUE", "FALSE"):
            return upper == "TRUE"
        if upper in _GEOMETRIES:
            return self._geometry(upper)
        if upper in _RESERVED:
            raise TextError(f"{word} is no value")
        if not self._now.is_symbol("("):
            return {"property": word}
        if upper in ("DATE", "TIMESTAMP"):
            return {lower: self._one_string()}
        if upper == "INTERVAL":
            return {"interval": self._arguments(self._interval_end, 2)}
        if lower in _ARRAY_FUNCTIONS:
            return _call(lower, self._arguments(self._array_operand, 2))
        if lower in _TEXT_FUNCTIONS:
            return _call(lower, self._arguments(self._sum, 1))
        if lower in SPATIAL_FUNCTIONS | _TEMPORAL_FUNCTIONS:
            return _call(lower, self._arguments(self._primary, 2))
        raise TextError(f"unknown function {word}")

    def _one_string(self) -> str:
        self._expect_symbol("(")
        text = self._expect_string()
        self._expect_symbol(")")
        return text

    def _arguments(self, operand: Any, count: int) -> list[Any]:
        self._expect_symbol("(")
        found = [operand()]
        while self._take_symbol(","):
            found.append(operand())
        self._expect_symbol(")")
        if len(found) != count:
            raise TextError(f"{count} arguments expected, not {len(found)}")
        return found

    def _interval_end(self) -> Any:
        return self._next().text if self._now.kind == "string" else self._primary()

    def _array_operand(self) -> Any:
        return self._array() if self._now.is_symbol("(") else self._primary()

    def _array(self) -> list[Any]:
        self._expect_symbol("(")
        if self._take_symbol(")"):
            return []
        found = [self._array_element()]
        while self._take_symbol(","):
            found.append(self._array_element())
        self._expect_symbol(")")
        return found

    def _array_element(self) -> Any:
        return self._array() if self._now.is_symbol("(") else self._sum()

    def _geometry(self, tag: str) -> Any:
        if self._now.is_word("Z"):
            self._next()
        return geometry_from(tag, self._nested_numbers())

    def _nested_numbers(self) -> list[Any]:
        """Read a parenthesised list as nested lists; a run of numbers is a list of its own."""
        self._expect_symbol("(")
        found = [self._nested_item()]
        while self._take_symbol(","):
            found.append(self._nested_item())
        self._expect_symbol(")")
        return found

    def _nested_item(self) -> Any:
        if self._now.is_symbol("("):
            return self._nested_numbers()
        if self._now.kind == "name":
            return self._geometry(self._next().text.upper())
        numbers = []
        while self._now.kind == "number" or self._now.is_symbol("-", "+"):
            sign = -1.0 if self._take_symbol("-") else 1.0
            self._take_symbol("+")
            if self._now.kind != "number":
                raise self._fault("a number")
            numbers.append(sign * float(self._next().text))
        if not numbers:
            raise self._fault("a coordinate")
        return numbers


def _call(name: str, args: list[Any]) -> Any:
    return {"op": _JSON_NAMES.get(name, name), "args": args}


def _negated(tree: Any) -> Any:
    return {"op": "not", "args": [tree]}


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)
