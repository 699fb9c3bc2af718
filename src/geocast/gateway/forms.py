"""Text of a certain form: documents show its pattern, people who miss it are told in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from geocast.errors import InputError
from geocast.model import ACCOUNT_NAME, check_account_name

__all__ = ["AccountName", "Form", "NumberedCursor", "of_form"]


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
