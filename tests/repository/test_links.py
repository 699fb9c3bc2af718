"""Links to sign in by: once, for a while, and only as whom they were made for."""

from __future__ import annotations

import pytest

from geocast.errors import InputError
from geocast.model import MICROSECONDS, Account, now
from geocast.repository import Repository, links
from geocast.repository.tables import link


def test_a_link_signs_in_once(repository: Repository, ann: Account) -> None:
    code, expires = repository.links.issue(ann.number, 600)
    assert 0 < expires - now() <= 600 * MICROSECONDS
    found = repository.links.redeem(code)
    assert found is not None
    account, token = found
    assert account == ann
    assert repository.accounts.authenticate(token) == ann
    assert repository.links.redeem(code) is None
    assert repository.links.redeem("x") is None


def test_only_a_hash_is_kept(repository: Repository, ann: Account) -> None:
    code, _ = repository.links.issue(ann.number, 600)
    with repository._database.read() as connection:
        [row] = connection.execute(link.select())
    assert code.encode() not in row.hash
    assert len(row.hash) == 32


def test_a_link_is_over_after_its_time(
    repository: Repository, ann: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, expires = repository.links.issue(ann.number, 600)
    other, _ = repository.links.issue(ann.number, 601)
    monkeypatch.setattr(links, "now", lambda: expires)
    assert repository.links.redeem(code) is None
    assert repository.links.redeem(other) is not None


def test_whoever_signed_in_does_not_outlive_the_token_that_asked(
    repository: Repository, ann: Account
) -> None:
    until = now() + 3_600 * MICROSECONDS
    _, short = repository.accounts.issue_token(ann.number, expires=until)
    _, forever = repository.accounts.issue_token(ann.number)
    for by, latest in ((short, until), (forever, now() + 31 * 86_400 * MICROSECONDS)):
        code, _ = repository.links.issue(ann.number, 600, by=by)
        assert repository.links.redeem(code) is not None
        made = repository.accounts.tokens(ann.number)[-1]
        assert made.label == "signed in by a link"
        assert made.expires is not None
        assert now() < made.expires <= latest


def test_links_go_with_their_account(repository: Repository, ann: Account) -> None:
    code, _ = repository.links.issue(ann.number, 600)
    repository.accounts.remove("ann")
    assert repository.links.redeem(code) is None
    with pytest.raises(InputError):
        repository.links.issue(ann.number, 600)


def test_what_is_over_is_removed(
    repository: Repository, ann: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.links.issue(ann.number, 1)
    used, _ = repository.links.issue(ann.number, 600)
    repository.links.redeem(used)
    later = now() + 40 * 86_400 * MICROSECONDS
    monkeypatch.setattr(links, "now", lambda: later)
    repository.links.issue(ann.number, 600)
    with repository._database.read() as connection:
        assert len(connection.execute(link.select()).all()) == 1
    assert repository.accounts.tokens(ann.number) == []
