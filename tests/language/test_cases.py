from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

from geocast.language import normalise, to_json, to_text
from tests.content.batches import batch_of, mixed
from tests.language.holding import fulfilled

FOLDER = Path(__file__).parent / "cases"
NAMES = ("basic", "strings", "numbers", "times", "arrays", "space")


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


FEATURES: dict[str, dict[str, Any]] = read("features")
TABLE = [case for name in NAMES for case in read(name)]
CASES = [pytest.param(case, id=case["text"]) for case in TABLE]


def features() -> tuple[pa.RecordBatch, Any]:
    names = [name for name in next(iter(FEATURES.values())) if name != "geometry"]
    columns = {name: [feature[name] for feature in FEATURES.values()] for name in names}
    batch = batch_of({"id": list(FEATURES), **columns, "code": mixed(columns["code"])})
    return batch, shapely.from_wkt([feature["geometry"] for feature in FEATURES.values()])


@pytest.mark.parametrize("case", CASES)
def test_accepts_the_features_of_the_table(case: dict[str, Any]) -> None:
    batch, geometries = features()
    holds = fulfilled(normalise(case["text"]), batch, geometries)
    assert [name for name, held in zip(FEATURES, holds, strict=True) if held] == case["accepts"]


@pytest.mark.parametrize("case", CASES)
def test_text_and_json_have_one_normal_form(case: dict[str, Any]) -> None:
    assert normalise(case["text"]) == normalise(case["json"])
    assert normalise(case["text"]) == normalise(json.dumps(case["json"]))


@pytest.mark.parametrize("case", CASES)
def test_the_normal_form_reads_back(case: dict[str, Any]) -> None:
    form = normalise(case["text"])
    assert normalise(to_text(form)) == form
    assert normalise(to_json(form)) == form


def test_the_table_accepts_and_refuses_every_feature() -> None:
    accepted = np.array([[name in case["accepts"] for name in FEATURES] for case in TABLE])
    assert accepted.any(axis=0).all()
    assert (~accepted).any(axis=0).all()
