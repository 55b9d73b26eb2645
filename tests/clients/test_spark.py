"""The function for mapInPandas in a real Spark session, and on frames of real pandas."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import pandas
import pytest

from stillme.batch.frames import SCHEMA, verified_frames
from tests.batch.support import AS_OF, PLAIN, requests


def rows(count: int) -> list[dict[str, Any]]:
    """Questions with their answers, each with an id and passages as JSON."""
    return [
        {
            "request_id": f"call-{n}",
            "query": each["query"],
            "draft_answer": each["draft_answer"],
            "context": json.dumps(each["retrieved_context"], ensure_ascii=False),
        }
        for n, each in enumerate(requests(count))
    ]


def test_an_iterator_of_pandas_frames() -> None:
    """Lists in cells are arrays to pandas, an empty cell is not a number."""
    asked = requests(4)
    frame = pandas.DataFrame(asked)
    frame["as_of"] = [float("nan")] * 4

    (found,) = verified_frames(PLAIN, as_of=AS_OF)(iter([frame]))

    assert list(found["decision"]) == ["answer", "refuse"] * 2
    assert list(found["error"]) == [None] * 4


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session on this machine."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime")
    from pyspark.sql import SparkSession  # noqa: PLC0415  (heavy)

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = (
        builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    )
    yield session
    session.stop()


def test_map_in_pandas_on_a_spark_session(spark: Any) -> None:
    """Partitions in other processes give the results of this one."""
    frame = spark.createDataFrame(rows(20)).repartition(3)

    found = frame.mapInPandas(verified_frames(PLAIN, as_of=AS_OF), schema=SCHEMA).collect()

    (here,) = verified_frames(PLAIN, as_of=AS_OF)([pandas.DataFrame(rows(20))])
    wanted = {row["request_id"]: (row["decision"], row["verdict"]) for row in here.to_dict("records")}
    assert {row.request_id: (row.decision, row.verdict) for row in found} == wanted
