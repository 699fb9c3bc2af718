"""CQL2 text to the expression tree: a precedence-climbing parser that knows every position.

It is written here, and not left to a parser library, because refusals need the position of
every operand, integers must stay exact, and no input may overflow a stack: each level of
nesting is counted before it is entered.
"""

from __future__ import annotations

import math
from typing import NoReturn

from geocast.errors import FilterSyntaxError
from geocast.language import build
from geocast.language.build_time import array
from geocast.language.functions import call
from geocast.language.geometry import from_wkt
from geocast.language.relations import ARITHMETIC, COMPARISONS
from geocast.language.tokens import Token, tokenize
from geocast.language.tree import Boolean, Condition
from geocast.language.where import MAX_DEPTH, Located, Where, refuse, refuse_depth

__all__ = ["parse_text"]

_OR, _AND, _COMPARE, _ADD, _MULTIPLY, _POWER = range(1, 7)
_LEVELS = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys((*COMPARISONS, "LIKE", "BETWEEN", "IN", "IS", "NOT"), _COMPARE),
    **dict.fromkeys(("+", "-"), _ADD),
    **dict.fromkeys(("*", "/", "%", "DIV"), _MULTIPLY),
    "^": _POWER,
}
_ONCE = (_COMPARE, _POWER)  # operators of these levels do not follow each other


def parse_text(text: str) -> Condition:
    """Read a CQL2 text; raises a LanguageError with the position of what is wrong."""
    parser = _Parser(text)
    whole = parser.expression(_OR)
    parser.expect("end")
    return build.condition(whole)


class _Parser:
    """One pass over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._next = 0
        self._depth = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _advance(self) -> Token:
        token = self._token
        self._next += 1
        return token

    def _skip(self, symbol: str) -> bool:
        found = self._token.symbol == symbol
        self._next += found
        return found

    def expect(self, symbol: str) -> Token:
        """Take the next token, which must be this symbol."""
        if self._token.symbol != symbol:
            self._unexpected("" if symbol == "end" else f"; expected {symbol!r}")
        return self._advance()

    def _unexpected(self, hint: str = "") -> NoReturn:
        token = self._token
        what = "the text ends too early" if token.symbol == "end" else f"unexpected {token.raw!r}"
        refuse(FilterSyntaxError, what + hint, token.position)

    def _enter(self, where: Where) -> None:
        """Go one level deeper, unless that is too deep."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse_depth(where)

    def expression(self, minimum: int) -> Located:
        """Read an expression whose operators bind at least as strongly as `minimum`."""
        left = self._operand()
        done = 0
        while (level := _LEVELS.get(self._token.symbol, 0)) >= minimum:
            if level == done:
                self._unexpected("; use parentheses")
            left = self._infix(left, level)
            done = level if level in _ONCE else 0
        return left

    def _infix(self, left: Located, level: int) -> Located:
        if level in (_OR, _AND):
            return self._logical(left, level)
        symbol = self._advance().symbol
        if symbol in COMPARISONS:
            return build.comparison(symbol, left, self.expression(_ADD))
        if symbol.lower() in ARITHMETIC:
            return build.arithmetic(symbol.lower(), left, self.expression(level + 1))
        return self._predicate(symbol, left)

    def _logical(self, left: Located, level: int) -> Located:
        terms = [left]
        symbol = self._token.symbol
        while self._skip(symbol):
            terms.append(self.expression(level + 1))
        return build.conjunction(terms) if level == _AND else build.disjunction(terms)

    def _predicate(self, symbol: str, left: Located) -> Located:
        """Read the rest of LIKE, BETWEEN, IN or IS NULL, possibly negated."""
        negated = symbol == "NOT"
        if symbol == "IS":
            negated = self._skip("NOT")
            self.expect("NULL")
            result = build.is_null(left)
        else:
            if negated and self._token.symbol not in ("LIKE", "BETWEEN", "IN"):
                self._unexpected("; expected LIKE, BETWEEN or IN")
            result = self._range(self._advance().symbol if negated else symbol, left)
        return build.negation(result, left.where) if negated else result

    def _range(self, symbol: str, left: Located) -> Located:
        if symbol == "LIKE":
            return build.like(left, self.expression(_ADD))
        if symbol == "BETWEEN":
            low = self.expression(_ADD)
            self.expect("AND")
            return build.between(left, low, self.expression(_ADD))
        opening = self.expect("(")
        return build.membership(left, self._list(), opening.position)

    def _list(self) -> list[Located]:
        """Read the items of a list and its closing parenthesis; the opening one is behind us."""
        items: list[Located] = []
        if self._skip(")"):
            return items
        while True:
            items.append(self.expression(_OR))
            if not self._skip(","):
                self.expect(")")
                return items

    def _operand(self) -> Located:
        token = self._advance()
        where = token.position
        match token.symbol:
            case "NOT" | "-" | "+":
                return self._prefixed(token)
            case "(":
                return self._group(where)
            case "name":
                return self._named(token)
            case "geometry":
                return Located(from_wkt(token.raw, where), where)
            case "number":
                return build.number(_number(token.raw), where)
            case "string":
                return build.text(token.value, where)
            case "TRUE" | "FALSE":
                return Located(Boolean(token.symbol == "TRUE"), where)
        self._next -= 1
        hint = "; NULL can only be asked for by IS NULL" if token.symbol == "NULL" else ""
        return self._unexpected(hint)

    def _prefixed(self, token: Token) -> Located:
        """Read a run of one prefix operator and what it applies to."""
        run = [token.position]
        while self._token.symbol == token.symbol:
            run.append(self._advance().position)
        if token.symbol == "NOT":
            make, result = build.negation, self.expression(_COMPARE)
        else:
            make = build.negative if token.symbol == "-" else build.positive
            result = self._operand()
        for where in reversed(run):
            result = make(result, where)
        return result

    def _group(self, where: Where) -> Located:
        """Read what stands in parentheses: one expression, or an array of none or several."""
        self._enter(where)
        items = self._list()
        self._depth -= 1
        if len(items) != 1:
            return array(items, where)
        return Located(items[0].node, where, items[0].depth, grouped=True)

    def _named(self, token: Token) -> Located:
        where = token.position
        if token.raw.startswith('"') or not self._skip("("):
            return build.named(token.value, where)
        self._enter(where)
        arguments = self._list()
        self._depth -= 1
        return call(token.value, arguments, where)


def _number(raw: str) -> int | float:
    value = float(raw)
    return int(raw.lstrip("0") or "0") if raw.isdigit() and math.isfinite(value) else value
