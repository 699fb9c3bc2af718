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


@pytest.mark.parametrize(
    "url", ["https://t.example/{z}/{x}/{y}.png", "http://a.b:80/{x}/{y}/{z}?k=1"]
)
def test_where_tiles_come_from(url: str) -> None:
    assert Settings(tiles_url=url).tiles_url == url


@pytest.mark.parametrize(
    "url",
    [
        "ftp://t.example/{z}/{x}/{y}",
        "https://t.example/{z}/{x}.png",
        "https://t.example;script-src *; /{z}/{x}/{y}",
        "https://user@t.example/{z}/{x}/{y}",
        "https://t.example/{z}/{x}/{y}; script-src *",
    ],
)
def test_what_cannot_be_tiles(url: str) -> None:
    with pytest.raises(InputError, match="tiles_url must be like"):
        Settings(tiles_url=url)


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "running.md").read_text()
    missing = [f.name for f in fields(Settings) if f"GEOCAST_{f.name.upper()}" not in page]
    assert missing == []


def test_everything_lies_in_the_directory(tmp_path: Path) -> None:
    place = Place(tmp_path)
    paths = (place.publications, place.matches, place.snapshots, place.checkpoint, place.journal)
    assert all(path.is_relative_to(tmp_path) for path in paths)
    assert str(tmp_path) in place.repository


def test_the_repository_is_in_the_directory_unless_another_is_set(tmp_path: Path) -> None:
    assert Place.of(tmp_path, Settings()).repository == Place(tmp_path).repository
    elsewhere = Settings.of({"GEOCAST_REPOSITORY": "postgresql://geocast@db/geocast"})
    assert Place.of(tmp_path, elsewhere).repository == "postgresql://geocast@db/geocast"


@pytest.mark.parametrize(
    ("url", "mark"), [("postgresql://h/d", "?"), ("postgresql://h/d?a=1", "&")]
)
def test_the_file_of_the_password_goes_with_the_url(url: str, mark: str) -> None:
    settings = Settings(repository=url, repository_password_file="/run/a b&c")
    assert settings.repository_url == f"{url}{mark}password_file=/run/a%20b%26c"
    assert Settings(repository_password_file="/run/secret").repository_url == ""


def test_a_url_with_a_password_is_not_shown() -> None:
    settings = Settings.of({"GEOCAST_REPOSITORY": "postgresql://u:hidden@h/d"})
    assert "hidden" not in repr(settings) + repr(Place.of(Path(), settings))


def test_too_few_connections_are_refused() -> None:
    with pytest.raises(InputError, match="repository_connections must be at least 2, not 1"):
        Settings(repository_connections=1)
