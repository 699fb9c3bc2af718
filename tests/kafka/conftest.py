from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from sqlalchemy.engine import make_url

from geocast.bench.service import ServiceUnderTest
from tests.kafka.world import PREFIX
from tests.postgres import Server


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """A server of its own: it is killed."""
    started = Server.start(os.getpid())
    yield started
    started.stop()


@pytest.fixture(scope="package")
def service(
    kafka: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServiceUnderTest]:
    """A service with Kafka and PostgreSQL.

    It is told the database by its command, and the password by a file.
    """
    file = tmp_path_factory.mktemp("secret") / "password"
    file.write_text(server.password + "\n")
    with server.database("template1") as found:
        words = {"sslmode": "verify-full", "sslrootcert": str(server.directory / "root.crt")}
        url = make_url(found)._replace(password=None, host="localhost").update_query_dict(words)
        told = url.render_as_string(hide_password=False)
        environment = {
            "GEOCAST_LOG": f"kafka://{kafka}/{PREFIX}",
            "GEOCAST_REPOSITORY": told,
            "GEOCAST_REPOSITORY_PASSWORD_FILE": str(file),
        }
        directory = tmp_path_factory.mktemp("kafka-up") / "data"
        with ServiceUnderTest(directory, environment, ["--repository", told]) as running:
            yield running


@pytest.fixture(scope="session")
def direct(kafka: str) -> Producer:
    """Somebody who writes to the topic without asking the gateway."""
    return Producer({"bootstrap.servers": kafka, "acks": "all", "partitioner": "murmur2_random"})
