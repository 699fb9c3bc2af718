from __future__ import annotations

import numpy as np
import pytest

from geocast.snapshot.plan import choose_parts, size_class


@pytest.mark.parametrize(
    ("standing", "expected"),
    [(0, 0), (1, 0), (512, 0), (513, 1), (4096, 1), (4097, 2), (1_000_000, 4)],
)
def test_classes_grow_by_a_factor(standing: int, expected: int) -> None:
    assert size_class(standing) == expected


def test_few_parts_of_a_class_are_left_alone() -> None:
    assert choose_parts({"a": (5, 0), "b": (100, 0), "c": (600, 0), "d": (1000, 0)}) == ()
    assert choose_parts({}) == ()


def test_a_crowded_class_is_joined_with_everything_smaller() -> None:
    crowd = {f"p{k}": (1000, 0) for k in range(4)}
    assert choose_parts({"big": (9000, 0), "small": (3, 0), **crowd}) == ("small", *crowd)


def test_a_part_of_which_much_is_removed_is_written_anew() -> None:
    assert choose_parts({"a": (1000, 250), "b": (5, 0)}) == ()
    assert choose_parts({"a": (1000, 251), "b": (5, 0), "c": (2000, 0)}) == ("a", "b")
    assert choose_parts({"a": (1, 1)}) == ("a",)


def test_parts_stay_few_and_are_rarely_rewritten() -> None:
    """A million subscriptions that come in changes of any size, and go again."""
    rng = np.random.default_rng(1)
    sizes: dict[str, tuple[int, int]] = {}
    came = written = number = most = 0
    while came < 1_000_000:
        number += 1
        size = int(10 ** rng.uniform(0, 4))
        came += size
        sizes[str(number)] = (size, 0)
        name = str(rng.choice(list(sizes)))
        held, gone = sizes[name]
        sizes[name] = (held, min(held, gone + int(rng.integers(0, max(1, size // 2)))))
        while chosen := choose_parts(sizes):
            joined = sum(sizes[name][0] - sizes[name][1] for name in chosen)
            sizes = {name: size for name, size in sizes.items() if name not in chosen}
            number += 1
            if joined:
                sizes[str(number)] = (joined, 0)
            written += joined
        most = max(most, len(sizes))
    assert most <= 15
    assert written < 15 * came
