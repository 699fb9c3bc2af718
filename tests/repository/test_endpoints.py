from __future__ import annotations

from geocast.model import Account
from geocast.repository import Endpoint, Repository
from tests.repository.world import asking, deliver, record

URL = "https://example.org/hook"


def _state(repository: Repository, endpoint: Endpoint) -> Endpoint:
    found = repository.endpoints.get(endpoint.account, endpoint.number)
    assert found is not None
    return found


def test_an_endpoint_is_put(repository: Repository, ann: Account, bob: Account) -> None:
    made = repository.endpoints.put(ann.number, URL, "secret")
    assert (made.account, made.url, made.secret, made.state) == (
        ann.number,
        URL,
        "secret",
        "active",
    )
    assert (made.attempts, made.next_try, made.last_error, made.last_status) == (
        0,
        None,
        None,
        None,
    )
    assert repository.endpoints.get(ann.number, made.number) == made
    assert repository.endpoints.get(bob.number, made.number) is None
    assert "secret'" not in repr(made)


def test_an_account_has_one_endpoint_a_url(
    repository: Repository, ann: Account, bob: Account
) -> None:
    first = repository.endpoints.put(ann.number, URL, "one")
    repository.endpoints.park(first.number, "gone")
    again = repository.endpoints.put(ann.number, URL, "two")
    assert (again.number, again.secret, again.state) == (first.number, "two", "parked")
    assert repository.endpoints.put(bob.number, URL, "one").number != first.number
    assert repository.endpoints.put(ann.number, URL + "2", "one").number != first.number


def test_failures_and_success(repository: Repository, ann: Account) -> None:
    made = repository.endpoints.put(ann.number, URL, "s")
    repository.endpoints.failed(made.number, "timeout", 1_000)
    repository.endpoints.failed(made.number, "broken", 2_000, status=500)
    failing = _state(repository, made)
    assert (failing.attempts, failing.next_try) == (2, 2_000)
    assert (failing.last_error, failing.last_status) == ("broken", 500)
    assert failing.changed > made.changed
    repository.endpoints.succeeded(made.number, status=204)
    well = _state(repository, made)
    assert (well.attempts, well.next_try, well.last_error, well.last_status) == (0, None, None, 204)


def test_success_after_success_writes_nothing(repository: Repository, ann: Account) -> None:
    made = repository.endpoints.put(ann.number, URL, "s")
    repository.endpoints.succeeded(made.number)
    assert _state(repository, made) == made
    repository.endpoints.succeeded(made.number, status=200)
    first = _state(repository, made)
    repository.endpoints.succeeded(made.number, status=200)
    assert _state(repository, made) == first


def test_parked_and_resumed(repository: Repository, ann: Account, bob: Account) -> None:
    made = repository.endpoints.put(ann.number, URL, "s")
    other = repository.endpoints.put(bob.number, URL, "s")
    repository.endpoints.failed(made.number, "timeout", 1_000)
    repository.endpoints.park(made.number, "gone", status=410)
    parked = _state(repository, made)
    assert (parked.state, parked.last_error, parked.last_status) == ("parked", "gone", 410)
    assert repository.endpoints.page() == [parked, other]
    assert repository.endpoints.page(state="parked") == [parked]
    assert repository.endpoints.parked(5) == [(ann.name, parked)]
    assert repository.endpoints.page(bob.number) == [other]
    assert repository.endpoints.page(bob.number, "parked") == []
    assert not repository.endpoints.resume(bob.number, made.number)
    assert repository.endpoints.resume(ann.number, made.number)
    resumed = _state(repository, made)
    assert (resumed.state, resumed.attempts, resumed.next_try) == ("active", 0, None)


def test_endpoints_with_mail(repository: Repository, ann: Account, bob: Account) -> None:
    hooks = [repository.endpoints.put(one.number, URL, "s") for one in (ann, bob)]
    idle = repository.endpoints.put(ann.number, URL + "/idle", "s")
    wanted = [asking(endpoint=hook.number) for hook in hooks]
    to_ann = repository.subscriptions.add(ann.number, "one", wanted[0])
    to_bob = repository.subscriptions.add(bob.number, "one", wanted[1])
    repository.subscriptions.add(ann.number, "two", asking(endpoint=idle.number))
    assert repository.endpoints.active_with_mail() == []
    deliver(repository, record(0, [to_ann.vnumber, to_bob.vnumber]))
    assert repository.endpoints.active_with_mail() == hooks
    repository.endpoints.park(hooks[0].number, "gone")
    assert repository.endpoints.active_with_mail() == hooks[1:]
    repository.mailbox.acknowledge(bob.number, through=repository.mailbox.latest())
    assert repository.endpoints.active_with_mail() == []
    repository.endpoints.resume(ann.number, hooks[0].number)
    assert [one.number for one in repository.endpoints.active_with_mail()] == [hooks[0].number]
