"""What only a server has: passwords, certificates, refusals, and connections that break."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import URL, make_url

from geocast.errors import InputError, StateError, UnavailableError
from geocast.operate import Place, Settings
from geocast.repository import Repository
from geocast.repository.address import check_no_password, parsed, shown
from tests.postgres import Server
from tests.repository.world import asking

SECRET = "s3cret-word"


@pytest.fixture
def own(postgres: Server) -> Iterator[URL]:
    """The URL of an empty repository on the server."""
    with postgres.repository() as url:
        yield make_url(url)


def text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def without_password(url: URL) -> str:
    return text(url._replace(password=None))


def test_a_password_is_read_from_a_file(own: URL, postgres: Server, tmp_path: Path) -> None:
    file = tmp_path / "pass word"
    file.write_text(postgres.password + "\n")
    settings = Settings(repository=without_password(own), repository_password_file=str(file))
    place = Place.of(tmp_path, settings)
    assert postgres.password not in place.repository
    Repository.open(place.repository).close()


def test_a_password_is_read_from_the_file_that_the_driver_knows(
    own: URL, postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "passwords"
    file.write_text(f"127.0.0.1:{postgres.port}:*:geocast:{postgres.password}\n")
    file.chmod(0o600)
    with pytest.raises(StateError, match="no password supplied"):
        Repository.open(without_password(own))
    monkeypatch.setenv("PGPASSFILE", str(file))
    Repository.open(without_password(own)).close()


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"])
def test_a_password_file_without_a_password(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=f"the password file {file} "):
        Repository.open(f"postgresql://geocast@localhost/geocast?password_file={file}")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://geocast:{SECRET}@127.0.0.1:1/geocast",
        f"postgresql://geocast@127.0.0.1:1/geocast?password={SECRET}",
        f"postgresql://geocast@127.0.0.1:1/geocast?sslpassword={SECRET}",
        f"postgresql://geocast:{SECRET}@127.0.0.1:1/geocast?unheard_of=1",
        f"postgresql://geocast:{SECRET}@127.0.0.1:port/geocast",
    ],
)
def test_no_password_is_in_what_is_said(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises((StateError, InputError)) as failed:
        Repository.open(url)
    said = "".join(traceback.format_exception(failed.value))
    assert SECRET not in said + caplog.text
    assert SECRET not in repr(Settings(repository=url)) + repr(Place(Path(), url))


def test_no_secret_of_a_webhook_is_in_what_is_said(postgres: Server) -> None:
    with postgres.database() as url, closing(Repository.open(url)) as repository:
        ann = repository.accounts.add("ann", [])
        with repository._database.write() as connection:
            connection.exec_driver_sql("DROP TABLE endpoint CASCADE")
        with pytest.raises(Exception, match="endpoint") as failed:
            repository.endpoints.put(ann.number, "https://example.org/", SECRET)
        assert SECRET not in "".join(traceback.format_exception(failed.value))


def test_a_wrong_password_is_said(own: URL) -> None:
    with pytest.raises(StateError, match="password authentication failed") as failed:
        Repository.open(text(own.set(password=SECRET)))
    assert SECRET not in str(failed.value)
    assert "geocast:***@127.0.0.1" in str(failed.value)


def test_a_server_that_is_not_there_is_said(own: URL) -> None:
    with pytest.raises(UnavailableError, match=r"cannot be used now: .*Connection refused"):
        Repository.open(text(own.set(port=1)))


def test_a_database_that_is_not_there_is_said(own: URL) -> None:
    with pytest.raises(StateError, match='"nowhere" does not exist'):
        Repository.open(text(own.set(database="nowhere")))


@pytest.mark.parametrize("url", ["postgresql://u:p@h/d", "postgresql://u@h/d?password=p"])
def test_a_command_line_has_no_password(url: str) -> None:
    with pytest.raises(InputError, match="can be seen by others"):
        check_no_password(url)
    check_no_password("postgresql://u@h/d?sslmode=verify-full")
    assert shown(parsed(url)) in ("postgresql://u:***@h/d", "postgresql://u@h/d")


def test_encrypted_and_the_server_proved_who_it_is(own: URL, postgres: Server) -> None:
    root = str(postgres.directory / "root.crt")
    proved = own.set(host="localhost").update_query_dict(
        {"sslmode": "verify-full", "sslrootcert": root}
    )
    with closing(Repository.open(text(proved))) as repository:
        with repository._database.read() as connection:
            query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            assert connection.exec_driver_sql(query).scalar_one() is True
        repository.accounts.add("ann", [])


def test_a_server_that_cannot_prove_who_it_is_is_refused(own: URL, tmp_path: Path) -> None:
    other = Path(__file__).parents[1] / "deliver" / "hooks.example.pem"
    words = {"sslmode": "verify-full", "sslrootcert": str(other)}
    with pytest.raises(StateError, match="certificate verify failed"):
        Repository.open(text(own.update_query_dict(words)))


def test_a_name_that_is_not_in_the_certificate_is_refused(own: URL, postgres: Server) -> None:
    words = {"sslmode": "verify-full", "sslrootcert": str(postgres.directory / "root.crt")}
    named = own.set(host="other.example").update_query_dict({**words, "hostaddr": "127.0.0.1"})
    with pytest.raises(StateError, match="does not match host name"):
        Repository.open(text(named))


def test_the_url_has_the_last_word(own: URL) -> None:
    words = {"options": "-c lock_timeout=7s", "application_name": "mine"}
    with closing(Repository.open(text(own.update_query_dict(words)))) as repository:
        shown_by = {"lock_timeout": "7s", "application_name": "mine", "enable_hashjoin": "off"}
        with repository._database.write() as connection:
            for name, value in shown_by.items():
                assert connection.exec_driver_sql(f"SHOW {name}").scalar_one() == value


def test_connections_that_broke_while_nobody_used_them(own: URL) -> None:
    with closing(Repository.open(text(own))) as repository:
        ann = repository.accounts.add("ann", [])
        with psycopg.connect(text(own), autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'geocast' AND datname = current_database()"
            )
        assert repository.accounts.get("ann") == ann
        assert repository.mailbox.latest() == 0
        repository.subscriptions.add(ann.number, "one", asking())


def test_a_connection_that_breaks_within_a_transaction(own: URL) -> None:
    with closing(Repository.open(text(own))) as repository:

        def break_it() -> None:
            with repository._database.write() as connection:
                connection.exec_driver_sql("UPDATE counter SET value = 9")
                connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

        with pytest.raises(UnavailableError) as failed:
            break_it()
        assert failed.value.undone
        assert repository.mailbox.latest() == 0


STOPPED = """
import sys, time
from sqlalchemy import text
from geocast.operate import process_name
from geocast.repository import Repository

repository = Repository.open(sys.argv[1])
repository.members.beat(process_name(), "deliver", 1)
with repository._database.write() as connection:
    connection.execute(text("UPDATE counter SET value = value"))
    cursor = connection.connection.cursor()
    with cursor.copy("COPY account FROM STDIN") as copy:
        print("in the middle", flush=True)
        time.sleep(600)
"""


def test_nobody_waits_for_who_is_stopped_in_the_middle_of_a_copy(own: URL) -> None:
    """The server would wait for the rest of a COPY for ever, with all that was locked before."""
    command = [sys.executable, "-c", STOPPED, text(own)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"in the middle\n"
            other.send_signal(signal.SIGSTOP)
            with closing(Repository.open(text(own))) as repository:
                while repository.members.present("deliver"):
                    time.sleep(0.1)
                repository.members.beat("b", "other", 60)
                began = time.monotonic()
                repository.subscriptions.add(
                    repository.accounts.add("ann", []).number, "one", asking()
                )
                assert time.monotonic() - began < 10
        finally:
            other.kill()


def test_the_character_nul(repository: Repository) -> None:
    """JSON can have it, PostgreSQL's text cannot: it comes back as it went in."""
    ann = repository.accounts.add("ann", [])
    for name in ("a\x00b", "a\x1a0b", "a\x1ab", "a\x00\x1a1"):
        repository.subscriptions.add(ann.number, name, asking(f"x = '{name}'"))
        found = repository.subscriptions.get(ann.number, name)
        assert found is not None
        assert (found.id, found.wanted.filter) == (name, f"x = '{name}'")
    assert repository.subscriptions.count(ann.number) == 4
    assert repository.subscriptions.get(ann.number, "\x00") is None


def test_names_are_in_the_order_of_their_characters(repository: Repository) -> None:
    names = ["b", "a-b", "a.b", "ab", "a_b", "a"]
    for name in names:
        repository.accounts.add(name, [])
    assert [one.name for one in repository.accounts.page()] == sorted(names)
