from __future__ import annotations

from pathlib import Path

import pytest

from geocast.bench.data import DataFolder
from tests.bench.fakes import write_fake_data


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    path: Path = tmp_path_factory.mktemp("data")
    write_fake_data(path)
    return DataFolder(path)
