from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from geocast import Matcher
from geocast.bench.data import ENVIRONMENT_VARIABLE, DataFolder
from geocast.bench.thesis.answers import digest, digest_of_pairs
from geocast.bench.thesis.baselines import measure_threads
from geocast.bench.thesis.figures import EXPERIMENTS
from geocast.bench.thesis.journal import Journal, place_of
from geocast.bench.thesis.outcomes import Outcomes
from geocast.bench.thesis.plan import plan
from geocast.bench.thesis.rivals import CENTRAL, PLAIN
from geocast.bench.thesis.scale import SCALES
from geocast.bench.thesis.sedona_room import Release, SedonaRoom
from geocast.bench.thesis.setting import Found, NotMeasurableError, Setting
from geocast.bench.thesis.sizes import Sizes
from geocast.bench.thesis.workloads import Files, Workloads
from geocast.cli.bench import app
from geocast.errors import InputError, UnknownNameError
from geocast.pipeline import variant_names

SIZES = Sizes(SCALES["small"], 2)
FOUND = Found(rate=10.0, seconds=1.0, build_seconds=0.1, pairs=3, matches="abc")


@pytest.fixture
def draw(data: DataFolder, tmp_path: Path) -> Callable[[Setting], Files]:
    return Workloads(data, tmp_path / "drawn").files


def expected(files: Files) -> tuple[int, str]:
    return digest(Matcher(files.subscriptions).match(files.publications), files)


@pytest.mark.parametrize("engine", [*CENTRAL, *PLAIN])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_baseline_gives_all_matches(
    engine: str, threads: int, draw: Callable[[Setting], Files], tmp_path: Path
) -> None:
    way = SIZES.batch(engine, "threads" if engine in CENTRAL else "plain")
    setting = replace(way, master=f"threads[{threads}]", files=3)
    files = draw(setting)
    found = measure_threads(setting, files, tmp_path / "out")
    assert (found.pairs, found.matches) == expected(files)
    assert found.pairs > 0
    assert found.rate == pytest.approx(files.publications.num_rows / found.seconds)


def test_publications_to_warm_up_with_are_others(draw: Callable[[Setting], Files]) -> None:
    files = draw(replace(SIZES.batch("RIS[HT]"), warm=20))
    names = [set(pq.read_table(path)["id"].to_pylist()) for path in (files.warm, files.parts)]
    assert names[1] == set(files.publications["id"].to_pylist())
    assert names[0]
    assert not names[0] & names[1]


def test_a_workload_that_memory_cannot_hold_is_refused(
    draw: Callable[[Setting], Files],
) -> None:
    with pytest.raises(NotMeasurableError, match="more than a fifth"):
        draw(SIZES.with_subs(SIZES.batch("RIS[HT]"), 2_000_000_000))


def test_digests_tell_pairs_apart(draw: Callable[[Setting], Files]) -> None:
    files = draw(SIZES.batch("RIS[HT]"))
    matches = Matcher(files.subscriptions).match(files.publications)
    pairs = [
        {"publication": row["publication"], "subscription": name}
        for row in matches.to_pylist()
        for name in row["subscriptions"]
    ]
    assert digest_of_pairs(pa.Table.from_pylist(pairs[::-1]), files) == expected(files)
    assert digest_of_pairs(pa.Table.from_pylist(pairs[1:]), files) != expected(files)
    assert digest_of_pairs(pa.Table.from_pylist([*pairs, pairs[0]]), files) != expected(files)


def test_a_journal_knows_exactly_what_was_set(tmp_path: Path, data: DataFolder) -> None:
    setting = SIZES.batch("sPS{QT}")
    place = place_of(data, ["gb_accidents_stats19_2015"])
    Journal(tmp_path / "journal.jsonl", place).add(setting, FOUND)
    again = Journal(tmp_path / "journal.jsonl", place)
    assert again.find(setting) == FOUND
    assert again.find(replace(setting, cells=5)) is None
    assert again.find(SIZES.with_points(setting, 0.5)) is None
    assert Journal(tmp_path / "journal.jsonl", "elsewhere").find(setting) is None


def test_a_journal_goes_on_behind_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first, second = SIZES.batch("RIS[HT]"), SIZES.batch("sPS{QT}")
    Journal(path, "here").add(first, FOUND)
    with path.open("a") as file:
        file.write('{"key": "abc", "found": {"ra')
    Journal(path, "here").add(second, FOUND)
    again = Journal(path, "here")
    assert again.find(first) == again.find(second) == FOUND


def test_a_journal_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"key": 1}\n')
    with pytest.raises(InputError, match="line 1"):
        Journal(tmp_path / "journal.jsonl", "here")


def test_answers_are_compared_with_those_of_ris_on_the_same_workload() -> None:
    other, ris = SIZES.batch("sPS{QT}"), SIZES.batch("RIS[HT]")
    elsewhere = SIZES.with_points(other, 0.5)
    outcomes = Outcomes()
    outcomes.found |= {other: replace(FOUND, matches="xyz"), ris: FOUND}
    outcomes.found[elsewhere] = replace(FOUND, matches="qrs")
    assert outcomes.differing() == [other]


@pytest.mark.parametrize("scale", SCALES)
def test_every_experiment_is_planned_at_every_scale(scale: str) -> None:
    figures = plan(SCALES[scale], 2)
    assert [figure.number for figure in figures] == [f"8.{number}" for number in range(1, 33)]
    assert {figure.experiment for figure in figures} == set(EXPERIMENTS)
    assert all(figure.cells for figure in figures)
    settings = [setting for figure in figures for setting in figure.settings()]
    assert {setting.cores for setting in settings if setting.way != "memory"} == {1, 2}


def test_all_variants_meet_at_the_default_sizes() -> None:
    first = plan(SCALES["small"], 2, ["A"])[0]
    assert [cell.series for cell in first.cells] == variant_names()
    assert len({cell.setting.recipe for cell in first.cells}) == 1


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'Z'"):
        plan(SCALES["small"], 2, ["A", "Z"])


def test_why_sedona_cannot_be_had_is_told(tmp_path: Path) -> None:
    (tmp_path / "room").write_text("in the way")
    room = SedonaRoom(tmp_path / "room", (Release("4.1", "1.9.1"), Release("4.0", "1.8.0")))
    for _ in range(2):
        with pytest.raises(NotMeasurableError, match=r"tried .* 1\.9\.1 .*; .* 1\.8\.0 "):
            room.open()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--scale", "huge"], UnknownNameError),
        (["--only", "A,Z"], UnknownNameError),
        ([], InputError),
    ],
)
def test_bad_options_and_missing_data_are_told(
    options: list[str], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    ran = CliRunner().invoke(app, ["thesis", *options])
    assert isinstance(ran.exception, error)


def _outcomes(**others: str) -> Outcomes:
    settings = {name: SIZES.batch(name) for name in ("RIS[HT]", "sPS{QT}")}
    outcomes = Outcomes({settings["RIS[HT]"]: FOUND, settings["sPS{QT}"]: FOUND})
    if "matches" in others:
        outcomes.found[settings["sPS{QT}"]] = replace(FOUND, matches=others["matches"])
    if "failed" in others:
        outcomes.failed[settings["sPS{QT}"]] = others["failed"]
    return outcomes


@pytest.mark.parametrize(
    ("outcomes", "status", "told"),
    [
        (_outcomes(), 0, "report: "),
        (_outcomes(matches="xyz"), 1, "other matches than RIS"),
        (_outcomes(failed="failed: no room"), 1, "failed: no room"),
    ],
)
def test_the_exit_status_tells_of_other_matches_and_failures(
    outcomes: Outcomes,
    status: int,
    told: str,
    data: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("geocast.bench.thesis.run.run_thesis", lambda *_, **__: outcomes)
    options = ["--scale", "small", "--only", "A", "--data", str(data.path), "--out", str(tmp_path)]
    ran = CliRunner().invoke(app, ["thesis", *options])
    assert ran.exit_code == status, ran.output
    assert told in ran.output
    assert (tmp_path / "index.html").is_file()
