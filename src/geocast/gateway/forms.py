"""Text of a certain form: documents show its pattern, people who miss it are told in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from geocast.errors import InputError
from geocast.model import ACCOUNT_NAME, check_account_name, from_rfc3339

__all__ = ["AccountName", "Form", "Moment", "NumberedCursor", "PlacesCursor", "of_form"]


@dataclass(frozen=True, slots=True)
class Form:
    """Annotates text; `check` raises InputError, in words, for all that misses the pattern."""

    pattern: str
    check: Callable[[str], object]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check text once it is known to be text."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Show the pattern."""
        return {**handler(schema), "pattern": self.pattern}

    def _checked(self, text: str) -> str:
        try:
            self.check(text)
        except InputError as error:
            raise PydanticCustomError("form", "{reason}", {"reason": str(error)}) from None
        return text


def of_form(pattern: str, words: str) -> Form:
    """Return the form of a pattern; `words` tell it to whoever misses it."""
    expression = re.compile(pattern)

    def check(text: str) -> None:
        if not expression.fullmatch(text):
            raise InputError(words)

    return Form(pattern, check)


AccountName = Annotated[str, Form(ACCOUNT_NAME, check_account_name)]
"""The name of an account."""

_CURSOR: Final = of_form(r"^[0-9]{1,18}$", "that is not the `next` of a page")
NumberedCursor = Annotated[str, _CURSOR]
"""Where a page begins, in lists that are ordered by number."""

_PLACES: Final = of_form(r"^[0-9]{1,18}(-[0-9]{1,18})*$", "that is not the `next` of a page")
PlacesCursor = Annotated[str, _PLACES]
"""Where a page begins, in lists of the log: an offset for each of its partitions."""

_MOMENT: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})$"
)


def _check_moment(text: str) -> None:
    try:
        if not re.fullmatch(_MOMENT, text):
            raise ValueError
        from_rfc3339(text)
    except (ValueError, OverflowError):
        words = "a time with its zone is expected, such as 2026-11-16T05:23:11Z"
        raise InputError(words) from None


Moment = Annotated[
    str, Form(_MOMENT, _check_moment), Field(json_schema_extra={"format": "date-time"})
]
"""A time by RFC 3339."""
