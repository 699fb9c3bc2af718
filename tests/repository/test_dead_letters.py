from __future__ import annotations

from dataclasses import replace

from geocast.model import now
from geocast.repository import DeadLetter, Repository

AT_THE_DOOR = DeadLetter("gateway", "ann", "x", "no geometry", b"{}")
IN_THE_LOG = DeadLetter("pipeline", "bob", None, "not JSON", b"\xff", 1, 7)


def _plain(letters: list[DeadLetter]) -> list[DeadLetter]:
    return [replace(letter, number=0, at=0) for letter in letters]


def test_letters_come_back(repository: Repository) -> None:
    before = now()
    repository.dead_letters.add([AT_THE_DOOR, IN_THE_LOG])
    letters = repository.dead_letters.page()
    assert _plain(letters) == [AT_THE_DOOR, IN_THE_LOG]
    assert all(before <= letter.at <= now() for letter in letters)
    repository.dead_letters.add([])
    assert repository.dead_letters.count() == 2


def test_a_place_in_the_log_has_one_letter(repository: Repository) -> None:
    repository.dead_letters.add([IN_THE_LOG, replace(IN_THE_LOG, reason="again")])
    repository.dead_letters.add([IN_THE_LOG, AT_THE_DOOR, AT_THE_DOOR])
    repository.dead_letters.add([replace(IN_THE_LOG, partition=2)])
    assert _plain(repository.dead_letters.page()) == [
        IN_THE_LOG,
        AT_THE_DOOR,
        AT_THE_DOOR,
        replace(IN_THE_LOG, partition=2),
    ]


def test_pages(repository: Repository) -> None:
    repository.dead_letters.add([AT_THE_DOOR, IN_THE_LOG, AT_THE_DOOR])
    first = repository.dead_letters.page(0, 2)
    assert _plain(first) == [AT_THE_DOOR, IN_THE_LOG]
    assert _plain(repository.dead_letters.page(first[-1].number, 2)) == [AT_THE_DOOR]
    assert _plain(repository.dead_letters.page(publisher="bob")) == [IN_THE_LOG]
    assert repository.dead_letters.page(publisher="eve") == []


def test_expiry(repository: Repository) -> None:
    repository.dead_letters.add([AT_THE_DOOR])
    (old,) = repository.dead_letters.page()
    repository.dead_letters.add([IN_THE_LOG])
    assert repository.dead_letters.expire(old.at) == 0
    assert repository.dead_letters.expire(old.at + 1) == 1
    assert _plain(repository.dead_letters.page()) == [IN_THE_LOG]
    assert repository.dead_letters.expire(now() + 1) == 1
    repository.dead_letters.add([AT_THE_DOOR])
    assert repository.dead_letters.page()[0].number == old.number + 2
