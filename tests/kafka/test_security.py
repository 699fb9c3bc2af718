"""TLS and SASL/SCRAM: whoever knows the password gets in, everybody else reads why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geocast.errors import InputError, StateError
from geocast.log import kafka_options
from geocast.log.kafka import KafkaLog, KafkaOptions
from geocast.operate import Settings
from tests.certificates import make_authority, make_pair, openssl
from tests.kafka.broker import running_broker

STORE = "store-password"
PASSWORD = "correct-horse"


def make_keystore(folder: Path) -> None:
    """A certificate authority, and a broker's key that it has signed, as a keystore."""
    folder.mkdir()
    make_authority(folder)
    make_pair(folder, "broker")
    openssl(
        folder,
        "pkcs12 -export -in broker.pem -inkey broker.key -certfile ca.pem -out broker.p12 "
        f"-passout pass:{STORE}",
    )


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("secured") / "broker"
    make_keystore(folder)
    environment = {
        "KAFKA_SECURITY": "sasl_ssl",
        "KAFKA_STORE_PASSWORD": STORE,
        "KAFKA_USER": "geocast",
        "KAFKA_PASSWORD": PASSWORD,
    }
    with running_broker(folder, environment) as servers:
        yield servers, str(folder / "ca.pem")


def options(servers: str, **more: Any) -> KafkaOptions:
    given = {"security": "sasl_ssl", "user": "geocast", "password": PASSWORD, **more}
    return KafkaOptions.of(f"kafka://{servers}/secured", **given)


def test_the_right_password_gets_in(secured: tuple[str, str]) -> None:
    servers, ca = secured
    log = KafkaLog.open(options(servers, ca=ca), "log", 1)
    (at,) = log.append([("a", b"1")])
    log.write(0, [("b", b"2")], query="q", batch=0, source=0)
    assert log.read(0, at.offset)["key"].to_pylist()[0] == "a"
    log.close()


def test_a_wrong_password_is_told(secured: tuple[str, str]) -> None:
    servers, ca = secured
    with pytest.raises(StateError, match="refuse this user: check GEOCAST_KAFKA_USER") as error:
        KafkaLog.open(options(servers, ca=ca, password="wrong-secret"), "log", 1)
    assert "wrong-secret" not in str(error.value)


def test_a_broker_that_nobody_vouches_for_is_told(secured: tuple[str, str]) -> None:
    with pytest.raises(StateError, match=r"no TLS connection: check .*GEOCAST_KAFKA_CA"):
        KafkaLog.open(options(secured[0]), "log", 1)


def test_security_comes_from_the_settings(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    environment = {
        "GEOCAST_LOG": "kafka://one:9092,two:9092/city",
        "GEOCAST_KAFKA_SECURITY": "SASL_SSL",
        "GEOCAST_KAFKA_USER": "me",
        "GEOCAST_KAFKA_PASSWORD_FILE": str(tmp_path / "password"),
        "GEOCAST_KAFKA_CA": "/ca.pem",
    }
    settings = Settings.of(environment)
    found = kafka_options(settings)
    assert (found.servers, found.prefix) == ("one:9092,two:9092", "city")
    assert found.client()["sasl.password"] == "secret"
    assert found.client()["ssl.ca.location"] == "/ca.pem"
    assert "secret" not in f"{found!r} {settings!r} {found.url}"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"GEOCAST_LOG": "http://x"}, "not the address of a Kafka log"),
        ({"GEOCAST_LOG": "kafka://me:pw@host"}, "not the address of a Kafka log"),
        ({"GEOCAST_LOG": "kafka://host/a_b"}, "cannot begin names of topics"),
        ({"GEOCAST_KAFKA_SECURITY": "tls"}, "unknown Kafka security 'tls'"),
        ({"GEOCAST_KAFKA_MECHANISM": "magic"}, "unknown SASL mechanism 'MAGIC'"),
        ({"GEOCAST_KAFKA_SECURITY": "sasl_ssl"}, "needs GEOCAST_KAFKA_USER"),
        ({"GEOCAST_KAFKA_PASSWORD_FILE": "/nowhere"}, "GEOCAST_KAFKA_PASSWORD_FILE: /nowhere"),
    ],
)
def test_settings_that_cannot_work(environment: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kafka_options(Settings.of({"GEOCAST_LOG": "kafka://host:9092", **environment}))
