"""Somebody who reads the topic of a subscriber, and how late each message was."""

from __future__ import annotations

import time
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any, Final

import numpy as np
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from numpy.typing import NDArray

from geocast.errors import GeocastError
from geocast.log.kafka.options import KafkaOptions

__all__ = ["Heard", "Wanted", "start_subscriber"]

_MATCH: Final = b'"match":"'
_AT_ONCE: Final = 10_000
_SILENT_SECONDS: Final = 60.0
_AFTERWARDS_SECONDS: Final = 1.0
_WAIT_SECONDS: Final = 1.0
_LONGEST_MILLISECONDS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """So many matches in a topic, from an offset on, of publications called NAME0, NAME1..."""

    topic: str
    start: int
    matches: int
    name: str


@dataclass(frozen=True, slots=True)
class Heard:
    """How many matches of each publication were heard of, and how many messages after which delay.

    `late[k]` counts messages that came k milliseconds after their publication was sent; `last` is
    the moment of the last one, in seconds since 1970.
    """

    times: NDArray[np.int64]
    late: NDArray[np.int64]
    last: float


def start_subscriber(
    options: KafkaOptions, wanted: Wanted, sent: Any, patience: float
) -> tuple[BaseProcess, Any]:
    """Read what is wanted; the connection tells when that begins, and in the end gives Heard.

    Ends sooner where nothing comes for a minute, or when the seconds of its patience are over.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (options, wanted, sent, patience, sender)
    process = context.Process(target=_listen, args=arguments, daemon=True)
    process.start()
    sender.close()
    return process, receiver


def _listen(options: KafkaOptions, wanted: Wanted, sent: Any, patience: float, sender: Any) -> None:
    consumer = _consumer(options)
    consumer.assign([TopicPartition(wanted.topic, 0, wanted.start)])
    moments = np.frombuffer(sent, np.float64)
    times = np.zeros(len(moments), np.int64)
    late = np.zeros(_LONGEST_MILLISECONDS, np.int64)
    seen, last, heard_at = 0, 0.0, time.monotonic()
    deadline = heard_at + patience
    sender.send("ready")
    while seen < wanted.matches and time.monotonic() < min(deadline, heard_at + _SILENT_SECONDS):
        first = consumer.poll(_WAIT_SECONDS)
        if first is None:
            # Until the first message, nobody can tell silence from a publisher that starts.
            heard_at = heard_at if seen else time.monotonic()
            continue
        told = [first, *consumer.consume(_AT_ONCE, 0)]
        numbers, matches = _numbers(told, wanted.name)
        heard_at, last = time.monotonic(), time.time()
        delays = ((last - moments[numbers]) * 1000).astype(np.int64)
        np.add.at(late, np.clip(delays, 0, _LONGEST_MILLISECONDS - 1), 1)
        np.add.at(times, numbers, matches)
        seen += int(matches.sum())
    while (repeated := consumer.poll(_AFTERWARDS_SECONDS)) is not None:
        np.add.at(times, *_numbers([repeated], wanted.name))
    consumer.close()
    sender.send(Heard(times, late[: int(np.flatnonzero(late).max(initial=0)) + 1], last))


def _numbers(messages: list[Message], name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the publications of that name, and how many matches each has."""
    mark = f'"subject":"{name}'.encode()
    found: list[int] = []
    matches: list[int] = []
    for message in messages:
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                continue
            raise GeocastError(f"the subscriber's topic cannot be read: {error.str()}")
        value = message.value() or b""
        at = value.find(mark)
        if at >= 0:
            at += len(mark)
            found.append(int(value[at : value.index(b'"', at)]))
            matches.append(value.count(_MATCH))
    return np.array(found, np.int64), np.array(matches, np.int64)


def _consumer(options: KafkaOptions) -> Consumer:
    return Consumer(
        {
            **options.client(),
            "group.id": f"{options.prefix}.bench",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 20,
            "queued.max.messages.kbytes": 262_144,
        }
    )
