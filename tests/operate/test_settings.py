from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from geocast.errors import InputError
from geocast.operate import Place, Settings


def test_what_is_given_goes_before_the_environment_and_that_before_the_default() -> None:
    environment = {"GEOCAST_PORT": "9000", "GEOCAST_HOST": "::1"}
    settings = Settings.of(environment, port=9100, partitions=None)
    assert (settings.port, settings.host, settings.partitions) == (9100, "::1", 2)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("GEOCAST_PORT", "http", "a whole number"),
        ("GEOCAST_LOG_AGE", "a week", "a number"),
        ("GEOCAST_ALLOW_PRIVATE_WEBHOOKS", "maybe", "true or false"),
    ],
)
def test_a_value_that_cannot_be_read_is_named(name: str, text: str, what: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be {what}, not '{text}'"):
        Settings.of({name: text})


def test_the_schedule_of_webhooks() -> None:
    assert Settings(webhook_schedule="1, 2.5,60").webhook_waits == (1.0, 2.5, 60.0)
    with pytest.raises(InputError, match="webhook_schedule must be seconds with commas"):
        _ = Settings(webhook_schedule="1,soon").webhook_waits


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operation.md").read_text()
    missing = [f.name for f in fields(Settings) if f"GEOCAST_{f.name.upper()}" not in page]
    assert missing == []


def test_everything_lies_in_the_directory(tmp_path: Path) -> None:
    place = Place(tmp_path)
    paths = (place.publications, place.matches, place.snapshots, place.checkpoint, place.journal)
    assert all(path.is_relative_to(tmp_path) for path in paths)
    assert str(tmp_path) in place.repository
