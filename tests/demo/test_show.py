from __future__ import annotations

import io
from pathlib import Path

import pytest
from matplotlib.image import imread
from rich.console import Console

from geocast.cli.demo import show
from geocast.cli.demo.check import brute_force
from geocast.cli.demo.picture import draw
from geocast.cli.demo.quakes import read_quakes
from geocast.cli.demo.scene import Scene
from geocast.cli.demo.story import World, everybody
from geocast.cli.demo.table import summary
from geocast.errors import GeocastError
from geocast.model import MATCHES


@pytest.fixture(scope="module")
def scene() -> Scene:
    world, quakes = World(), read_quakes()
    subscriptions = everybody(world)
    return Scene(world, quakes, subscriptions, brute_force(subscriptions, quakes))


def test_table_names_the_most_told(scene: Scene) -> None:
    console = Console(file=io.StringIO(), width=80)
    with console.capture() as capture:
        console.print(summary(scene))
    lines = capture.get().splitlines()
    assert any("Sonoma, California" in line and "627" in line for line in lines)
    assert any("Tsunami watch" in line and "6.6" in line for line in lines)
    assert max(len(line) for line in lines) <= 80


def test_picture_is_drawn(scene: Scene, tmp_path: Path) -> None:
    draw(scene, tmp_path / "map.png", dpi=20)
    picture = imread(tmp_path / "map.png")
    assert picture.shape[:2] == (252, 300)
    assert picture[..., :3].std() > 0.05


@pytest.mark.spark
def test_whole_demonstration(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=80)
    with console.capture() as capture:
        show.run(tmp_path / "new", "local[2]", console)
    assert "pairs agree" in capture.get()
    assert "/#link=" in capture.get()
    assert str(tmp_path / "new" / "demo-map.png") in capture.get().replace("\n", "")
    assert (tmp_path / "new" / "demo-map.png").stat().st_size > 100_000


def test_disagreement_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "match_on_spark", lambda *_: MATCHES.empty_table())
    with pytest.raises(GeocastError, match="please report this"):
        show.run(tmp_path, "local[2]", Console(file=io.StringIO()))
