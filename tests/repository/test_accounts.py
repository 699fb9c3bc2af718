from __future__ import annotations

import re
from pathlib import Path

import pytest

from geocast.errors import ConflictError, InputError
from geocast.model import Account, Right, now
from geocast.repository import Repository
from tests.repository.world import asking, deliver, record, subscribe


def test_an_account_is_what_was_added(repository: Repository) -> None:
    before = now()
    added = repository.accounts.add("ann", [Right.PUBLISH, Right.ADMIN, Right.PUBLISH])
    assert added.name == "ann"
    assert added.rights == {Right.PUBLISH, Right.ADMIN}
    assert before <= added.created <= now()
    assert repository.accounts.get("ann") == added
    assert repository.accounts.get("bob") is None


def test_a_name_is_taken_once(repository: Repository, ann: Account) -> None:
    with pytest.raises(ConflictError, match="'ann'"):
        repository.accounts.add("ann", [])
    assert repository.accounts.page() == [ann]


def test_a_name_must_be_one(repository: Repository) -> None:
    with pytest.raises(InputError, match="'An/n'"):
        repository.accounts.add("An/n", [])


def test_pages_go_by_name(repository: Repository) -> None:
    for name in ("c", "a", "d", "b"):
        repository.accounts.add(name, [])
    assert [one.name for one in repository.accounts.page(None, 3)] == ["a", "b", "c"]
    assert [one.name for one in repository.accounts.page("b", 3)] == ["c", "d"]
    assert repository.accounts.page("d", 3) == []


def test_rights_are_set(repository: Repository, ann: Account) -> None:
    changed = repository.accounts.set_rights("ann", [Right.ADMIN])
    assert changed == Account(ann.number, "ann", frozenset([Right.ADMIN]), ann.created)
    assert repository.accounts.get("ann") == changed
    assert repository.accounts.set_rights("ann", []).rights == frozenset()


def test_rights_of_nobody(repository: Repository) -> None:
    with pytest.raises(InputError, match="'nobody'"):
        repository.accounts.set_rights("nobody", [])


def test_a_token_tells_its_account(repository: Repository, ann: Account, bob: Account) -> None:
    _, first = repository.accounts.issue_token(ann.number, "laptop")
    _, second = repository.accounts.issue_token(bob.number)
    assert re.fullmatch(r"gct_[A-Za-z0-9_-]{43}", first)
    assert repository.accounts.authenticate(first) == ann
    assert repository.accounts.authenticate(second) == bob
    for wrong in ("", "gct_", first[:-1], first + "x", first.swapcase(), "gct_\udc80"):
        assert repository.accounts.authenticate(wrong) is None


def test_a_token_expires(repository: Repository, ann: Account) -> None:
    _, gone = repository.accounts.issue_token(ann.number, expires=now() - 1)
    _, good = repository.accounts.issue_token(ann.number, expires=now() + 60_000_000)
    assert repository.accounts.authenticate(gone) is None
    assert repository.accounts.authenticate(good) == ann


def test_tokens_are_listed_and_revoked(repository: Repository, ann: Account, bob: Account) -> None:
    number, text = repository.accounts.issue_token(ann.number, "one", expires=None)
    other, _ = repository.accounts.issue_token(ann.number, "two", expires=2**60)
    listed = repository.accounts.tokens(ann.number)
    assert [(one.number, one.label, one.expires) for one in listed] == [
        (number, "one", None),
        (other, "two", 2**60),
    ]
    assert not repository.accounts.revoke(bob.number, number)
    assert repository.accounts.authenticate(text) == ann
    assert repository.accounts.revoke(ann.number, number)
    assert not repository.accounts.revoke(ann.number, number)
    assert repository.accounts.authenticate(text) is None
    assert [one.number for one in repository.accounts.tokens(ann.number)] == [other]


def test_the_number_of_a_revoked_token_is_not_used_again(
    repository: Repository, ann: Account
) -> None:
    number, _ = repository.accounts.issue_token(ann.number)
    repository.accounts.revoke(ann.number, number)
    assert repository.accounts.issue_token(ann.number)[0] > number


def test_a_token_for_nobody(repository: Repository) -> None:
    with pytest.raises(InputError, match="no account with the number 99"):
        repository.accounts.issue_token(99)


def test_no_token_is_in_the_files(file: Path, embedded: Repository) -> None:
    ann = embedded.accounts.add("ann", [Right.SUBSCRIBE])
    _, text = embedded.accounts.issue_token(ann.number, "visible label")
    while_open = b"".join(one.read_bytes() for one in file.parent.iterdir())
    embedded.close()
    closed = file.read_bytes()
    for content in (while_open, closed):
        assert b"visible label" in content
        assert text.encode() not in content
        assert text.removeprefix("gct_").encode() not in content


def test_removing_an_account_removes_what_it_has(
    repository: Repository, ann: Account, bob: Account
) -> None:
    _, token = repository.accounts.issue_token(ann.number)
    endpoint = repository.endpoints.put(ann.number, "https://example.org/", "s")
    versions = subscribe(repository, ann, "one", "two") + subscribe(repository, bob, "three")
    deliver(repository, record(0, versions))
    after = repository.subscriptions.changes(0, 10).through
    assert repository.accounts.remove("ann")
    assert repository.accounts.get("ann") is None
    assert repository.accounts.authenticate(token) is None
    assert repository.accounts.tokens(ann.number) == []
    assert repository.accounts.page() == [bob]
    assert repository.endpoints.get(ann.number, endpoint.number) is None
    assert repository.subscriptions.count() == 1
    assert repository.subscriptions.changes(after, 10).removed == versions[:2]
    assert repository.mailbox.depth() == 1
    assert not repository.accounts.remove("ann")


def test_a_removed_account_gets_nothing_more(repository: Repository, ann: Account) -> None:
    repository.accounts.remove("ann")
    with pytest.raises(InputError, match="no account"):
        repository.subscriptions.add(ann.number, "one", asking())
    with pytest.raises(InputError, match="no account"):
        repository.endpoints.put(ann.number, "https://example.org/", "s")


def test_nobody_gets_the_name_of_a_removed_account(repository: Repository, ann: Account) -> None:
    repository.accounts.remove("ann")
    with pytest.raises(ConflictError, match="'ann' was removed, and its name is not given again"):
        repository.accounts.add("ann", [Right.SUBSCRIBE])
    assert repository.accounts.get("ann") is None
    assert repository.accounts.page() == []
    with pytest.raises(InputError, match="no account 'ann'"):
        repository.accounts.set_rights("ann", [Right.ADMIN])
