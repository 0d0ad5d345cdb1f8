"""Releases: the program's numbers and its debit from every kind of frame, and nothing charged for what cannot be released."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import counterpoint as cp
from service import program
from test_forks import forked

SURVEY = Path(__file__).parents[3] / "examples" / "survey"
PEOPLE = 400
AGES = [18 + k * 7 % 70 for k in range(PEOPLE)]
INCOMES = [None if k % 10 == 0 else 100.0 * k for k in range(PEOPLE)]
REGIONS = [None if k % 50 == 0 else ["north", "south", "west"][k * k % 3] for k in range(PEOPLE)]

# So much budget that counts have no noise: what is told is what was counted.
EXACT: dict[str, Any] = {
    "epsilon": 250.0,
    "delta": 1e-6,
    "data": {
        "adjacency": "replace",
        "people": PEOPLE,
        "column": [
            {"name": "age", "bounds": [0, 100]},
            {"name": "income", "bounds": [0, 50_000]},
            {"name": "region", "categories": ["north", "south"]},
        ],
    },
    "statistic": [
        {"name": "ages", "kind": "histogram", "column": "age", "bins": [0, 30, 60, 100], "pin": True, "epsilon": 50},
        {"name": "regions", "kind": "count", "by": ["region"], "pin": True, "epsilon": 50},
        {"name": "with income", "kind": "count", "where": "income >= 0", "pin": True, "epsilon": 50},
        {"name": "rich", "kind": "count", "where": "income >= 20000", "pin": True, "epsilon": 50},
    ],
}
NOISY = {**EXACT, "epsilon": 1.0, "statistic": [{"name": "rich", "kind": "count", "where": "income >= 20000", "error": 1}]}


def counts() -> list[float]:
    """What is counted, one row after the other."""
    ages = [sum(low <= age < high for age in AGES) for low, high in ((0, 30), (30, 60), (60, 101))]
    regions = [REGIONS.count(region) for region in ("north", "south")]
    told = [income for income in INCOMES if income is not None]
    return [*ages, *regions, len(told), sum(income >= 20_000 for income in told)]


def columns() -> dict[str, list[Any]]:
    return {"age": list(AGES), "income": list(INCOMES), "region": list(REGIONS)}


def chunked() -> pa.Table:
    table = pa.table(columns())
    parts = [table.slice(0, 7), table.slice(7, 0), table.slice(7, 200), table.slice(207)]
    return pa.concat_tables(parts)


def categorical() -> pd.DataFrame:
    frame = pd.DataFrame(columns())
    return frame.assign(region=frame.region.astype("category"), age=frame.age.astype("int16"))


def nullable() -> pd.DataFrame:
    frame = pd.DataFrame(columns()).convert_dtypes()
    # Rows that were left out leave their numbers behind.
    twice = pd.concat([frame, frame])
    return twice.iloc[:PEOPLE].set_index(np.arange(PEOPLE) * 3)


def polars_categorical() -> pl.DataFrame:
    frame = pl.DataFrame(columns()).with_columns(pl.col("region").cast(pl.Categorical), pl.col("income").cast(pl.Float32))
    return pl.concat([frame[:100], frame[100:]], rechunk=False).select("region", "income", "age")


FRAMES: dict[str, Callable[[], object]] = {
    "dict": columns,
    "arrays": lambda: {**columns(), "age": np.array(AGES), "income": np.array(INCOMES, dtype=float)},
    "pandas": lambda: pd.DataFrame(columns()),
    "pandas, categorical": categorical,
    "pandas, nullable": nullable,
    "pandas, objects": lambda: pd.DataFrame(columns(), dtype=object),
    "polars": lambda: pl.DataFrame(columns()),
    "polars, categorical": polars_categorical,
    "arrow": lambda: pa.table(columns()),
    "arrow, chunked": chunked,
    "arrow, batch": lambda: pa.RecordBatch.from_pydict(columns()),
    "arrow, reader": lambda: pa.table(columns()).to_reader(max_chunksize=90),
    "arrow, dictionary": lambda: pa.table({**columns(), "region": pa.array(REGIONS).dictionary_encode()}),
    "arrow, decimal": lambda: pa.table({**columns(), "income": pa.array(INCOMES).cast(pa.decimal128(20, 2))}),
    "another column, of dates": lambda: pa.table({**columns(), "day": pa.array([datetime.date(2024, 1, 1)] * PEOPLE)}),
}


def url(folder: Path) -> str:
    return f"sqlite:{folder / 'ledger.db'}"


def spent(folder: Path, name: str = "data") -> tuple[str, int]:
    """What a data set was charged, and how many accounts there are."""
    accounts = cp.Ledger(url(folder)).status()["accounts"]
    return next(one["spent"]["main"] for one in accounts if one["name"] == name), len(accounts)


def test_every_kind_of_frame_is_the_same_release(tmp_path: Path) -> None:
    first = cp.release(EXACT, columns(), ledger=url(tmp_path))
    assert first.to_dict()["value"] == counts()
    charged = spent(tmp_path)
    for name, frame in FRAMES.items():
        again = cp.release(EXACT, frame(), ledger=url(tmp_path))
        assert again == first and again.csv == first.csv, name
    assert spent(tmp_path) == charged and charged[1] == 2
    cp.Ledger(url(tmp_path)).verify()


def test_another_study_of_the_same_frame_is_charged_to_the_same_budget(tmp_path: Path) -> None:
    half = {**EXACT, "statistic": EXACT["statistic"][:2]}
    half["data"] = {**EXACT["data"], "budget": {"epsilon": 220.0, "delta": 1e-5}, "column": EXACT["data"]["column"][::2]}
    more = {**half, "data": {**EXACT["data"], "budget": {"epsilon": 220.0, "delta": 1e-5}}, "statistic": EXACT["statistic"][2:]}
    third = {**more, "statistic": EXACT["statistic"][3:]}
    values = [cp.release(one, pl.DataFrame(columns()), ledger=url(tmp_path)).to_dict()["value"] for one in (half, more)]
    assert sum(values, []) == counts() and spent(tmp_path)[1] == 3
    with pytest.raises(cp.errors.RefusedError) as refused:
        cp.release(third, columns(), ledger=url(tmp_path))
    assert refused.value.detail["by"] and spent(tmp_path)[1] == 3


def test_the_survey_costs_what_the_program_charges(tmp_path: Path) -> None:
    made, out, frames = tmp_path / "survey.csv", tmp_path / "out", tmp_path / "frames"
    subprocess.run([sys.executable, SURVEY / "make.py", made], check=True)
    study = tmp_path / "study.toml"
    study.write_text((SURVEY / "study.toml").read_text())
    subprocess.run([program(), "release", study, "--out", out], check=True, capture_output=True)
    files = {file: (out / file).read_bytes() for file in ("release.csv", "release.json", "report.html", "metadata.json")}
    # The same file is the same release.
    for again in (cp.release(study, out=out), cp.release(study, made, ledger=url(out)), cp.release(study, str(made), out=out)):
        assert [again.csv, again.json, again.report, again.metadata] == [text.decode() for text in files.values()]
    assert files == {file: (out / file).read_bytes() for file in files}
    # A frame of its rows is another one, and costs as much.
    pandas, polars = pd.read_csv(made), pl.read_csv(made)
    with pytest.raises(cp.errors.RefusedError, match="changed=True"):
        cp.release(study, pandas, ledger=url(out))
    published = cp.release(study, pandas, out=frames)
    assert cp.release(study, polars, ledger=cp.Ledger(url(frames))) == published
    assert cp.release(study, pa.Table.from_pandas(pandas), ledger=url(frames)) == published
    assert spent(frames) == spent(out)
    assert (frames / "release.csv").read_text() == published.csv and "html" in (frames / "report.html").read_text()
    theirs, ours = json.loads(files["release.json"]), json.loads(published.json)
    assert ours["privacy"] == theirs["privacy"] and ours["data"] == {**theirs["data"], "source": "a data frame"}
    # The same rows were counted: both intervals hold the same number, most of them with 95 %.
    within = far = 0
    for mine, other in zip(published.to_polars().rows(named=True), csv.DictReader(io.StringIO(files["release.csv"].decode())), strict=True):
        assert (mine["statistic"], mine["group"], mine["part"]) == (other["statistic"], other["group"], other["part"])
        if mine["lower"] is not None:
            width = mine["upper"] - mine["lower"] + float(other["upper"]) - float(other["lower"])
            within += mine["lower"] <= float(other["upper"]) and float(other["lower"]) <= mine["upper"]
            far += abs(mine["value"] - float(other["value"])) > width
    assert within > 100 and far == 0


def test_a_publication_is_a_frame(tmp_path: Path) -> None:
    published = cp.release(EXACT, columns(), ledger=url(tmp_path))
    names = ["statistic", "group", "part", "value", "lower", "upper", "confidence"]
    lists = published.to_dict()
    assert list(lists) == names and len(published) == 7 == len(lists["group"])
    assert published.to_polars().to_dict(as_series=False) == lists == pa.table(published).to_pydict()
    pandas = published.to_pandas()
    assert list(pandas) == names and pandas.value.tolist() == lists["value"] and pandas.lower.dtype == float
    assert lists["group"][3] == "region=north" and lists["part"][0] == "0 to 30"
    read = list(csv.DictReader(io.StringIO(published.csv)))
    assert [float(row["value"]) for row in read] == lists["value"] and list(read[0]) == names
    assert 0 < published.epsilon <= 250 and published.delta == 1e-6 and not published.made_up
    assert published.account in {one["name"] for one in cp.Ledger(url(tmp_path)).status()["accounts"]}
    assert published.head == cp.Ledger(url(tmp_path)).head
    assert "<table>" in published._repr_html_() and "7 numbers" in repr(published)
    assert published != cp.release(EXACT, dry_run=True) and published != 3
    published.write(tmp_path / "new" / "folder")
    assert sorted(os.listdir(tmp_path / "new" / "folder")) == ["metadata.json", "release.csv", "release.json", "report.html"]


def test_a_rehearsal_reads_no_row_and_charges_nothing(tmp_path: Path) -> None:
    class Nobody:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise AssertionError("rows were read")

    published = cp.release(EXACT, Nobody(), dry_run=True, out=tmp_path / "dry")
    assert published.made_up and published.account is None and "MADE-UP" in published.report
    assert sorted(os.listdir(tmp_path / "dry")) == ["metadata.json", "release.csv", "release.json", "report.html"]
    real = cp.release(EXACT, columns(), out=tmp_path / "real")
    with pytest.raises(cp.InvalidArgumentError, match="real rows"):
        cp.release(EXACT, dry_run=True, out=tmp_path / "real")
    assert (tmp_path / "real" / "release.json").read_text() == real.json


def test_a_plan_is_released_as_it_is(tmp_path: Path) -> None:
    planned = cp.plan_study(EXACT)
    planned.plan.save(tmp_path / "plan.toml", delta=1e-6)
    given = [cp.release(EXACT, columns(), plan=plan, ledger=url(tmp_path)) for plan in (planned, tmp_path / "plan.toml")]
    assert given[0] == given[1] == cp.release(EXACT, columns(), ledger=url(tmp_path))
    other = cp.plan_study({**EXACT, "statistic": EXACT["statistic"][:1]})
    with pytest.raises(cp.InvalidArgumentError, match='the plan has no release "regions"'):
        cp.release(EXACT, columns(), plan=other, ledger=url(tmp_path))


def bad_text() -> pa.Table:
    offsets = pa.py_buffer(np.array([0, 5, 7], dtype=np.int32))
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"nor\xff\xfeab")])
    return pa.table({"age": [1, 2], "income": [1.0, 2.0], "region": texts})


def bad_places() -> pa.Table:
    offsets = pa.py_buffer(np.array([0, 1_000_000, 7], dtype=np.int32))
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"northab")])
    return pa.table({"age": [1, 2], "income": [1.0, 2.0], "region": texts})


def bad_keys() -> pa.Table:
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 9_999], pa.int32()), pa.array(["north"]), safe=False)
    return pa.table({"age": [1, 2], "income": [1.0, 2.0], "region": keys})


class Broken:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise RuntimeError("the frame\nis gone")


class NoCapsule:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return 3


with_age = lambda age: {**columns(), "age": age}  # noqa: E731
DATES = [datetime.datetime(2024, 1, 1)] * PEOPLE

REFUSED: list[tuple[object, str]] = [
    ({}, "data"),
    ({"age": [1]}, "no column \"income\""),
    (pa.table(columns()).slice(0, 0), "no rows"),
    (pl.DataFrame(columns()).clear(), "no rows"),
    (pd.DataFrame(columns())[:0], "no rows"),
    ({name: [] for name in columns()}, "no rows"),
    (pd.DataFrame(with_age(DATES)), "\"age\" of the source is of type Timestamp"),
    (pl.DataFrame(with_age(DATES)), "\"age\" of the source is of type Timestamp"),
    (pa.table(with_age([[1]] * PEOPLE)), "\"age\" of the source is of type List"),
    (with_age(DATES), "a value of column \"age\" is of type datetime"),
    (with_age([1, "a"] * (PEOPLE // 2)), "\"age\" mixes its types"),
    (with_age([2**53 + 1, 0.5] * (PEOPLE // 2)), "\"age\" mixes its types"),
    (with_age([2**64] * PEOPLE), "64 bits"),
    (with_age([-1, 2**63] * (PEOPLE // 2)), "64 bits"),
    (with_age([2**200] * PEOPLE), "a value of column"),
    (with_age(AGES[1:]), "data"),
    (with_age(3), "a list of numbers or texts"),
    ({3: [1]}, "a text"),
    (pd.DataFrame(with_age([1, "a"] * (PEOPLE // 2))), "cannot be read"),
    (pd.concat([pd.DataFrame(columns())] * 2, axis=1), "cannot be read"),
    (pa.table([pa.array([1])] * 4, names=["age", "AGE", "income", "region"]), "twice"),
    (bad_text(), "\"region\""),
    (bad_places(), "\"region\""),
    (bad_keys(), "\"region\""),
    (pl.Series([1]), "cannot be read"),
    (pa.array([1]), "cannot be read"),
    (pa.chunked_array([[1]]), "cannot be read"),
    (Broken(), "the frame is gone"),
    (NoCapsule(), "cannot be read"),
    (3, "legal: a path"),
    (columns, "legal: a path"),
    ("nobody.csv", "nobody.csv"),
    (Path("nobody.txt"), "nobody.txt"),
    (None, "source"),
]


@pytest.mark.parametrize(("data", "said"), REFUSED, ids=[said[:20] for _, said in REFUSED])
def test_rows_that_cannot_be_released_are_refused_in_one_line(data: object, said: str, tmp_path: Path) -> None:
    with pytest.raises((cp.InvalidArgumentError, TypeError)) as refused:
        cp.release(EXACT, data, ledger=url(tmp_path))
    assert said in str(refused.value) and "\n" not in str(refused.value), refused.value
    assert not (tmp_path / "ledger.db").exists()


def test_what_cannot_be_released_is_said_before_anything_is_made(tmp_path: Path) -> None:
    def refused(match: str, kind: type[Exception] = cp.InvalidArgumentError, **named: Any) -> None:
        study = named.pop("study", EXACT)
        with pytest.raises(kind, match=match):
            cp.release(study, named.pop("data", columns()), **named)

    refused("nothing says what pays")
    refused("ledger of a file, or out", ledger="postgres://nobody@localhost/none")
    refused("ledger is 'nowhere'|ledger is \"nowhere\"", ledger="nowhere")
    refused("ledger", TypeError, ledger=3)
    refused("legal: a dict", TypeError, study=3, ledger=url(tmp_path))
    refused("column", study={**EXACT, "data": {"adjacency": "replace"}}, ledger=url(tmp_path))
    wage = {"name": "a", "kind": "count", "where": "wage > 3", "error": 1}
    refused("statistic 1", study={**EXACT, "statistic": [wage]}, ledger=url(tmp_path))
    pinned = {"name": "ages", "kind": "mean", "column": "age", "error": 0.05, "pin": True}
    refused("epsilon", cp.errors.OutOfReachError, study={**EXACT, "epsilon": 0.1, "statistic": [pinned]}, ledger=url(tmp_path))
    assert os.listdir(tmp_path) == []
    cp.release(EXACT, columns(), ledger=url(tmp_path))
    reader = cp.Ledger(url(tmp_path), read_only=True)
    refused("reading only", cp.LedgerError, ledger=reader, changed=True, data={**columns(), "age": AGES[::-1]})
    head = cp.Ledger(url(tmp_path)).head
    assert cp.release(EXACT, columns(), ledger=cp.Ledger(url(tmp_path), expect_head=head)).head == head


def test_other_rows_are_refused_or_charged_anew(tmp_path: Path) -> None:
    study = {**EXACT, "data": {**EXACT["data"], "budget": {"epsilon": 450.0, "delta": 1e-5}}}
    cp.release(study, columns(), ledger=url(tmp_path))
    one = float(spent(tmp_path)[0])
    others: list[dict[str, list[Any]]] = [
        {**columns(), "age": AGES[::-1]},
        {**columns(), "region": ["north" if region is None else region for region in REGIONS]},
        {name: values[1:] for name, values in columns().items()},
    ]
    for other in others:
        with pytest.raises(cp.errors.RefusedError, match="changed=True"):
            cp.release(study, pl.DataFrame(other), ledger=url(tmp_path))
    cp.release(study, others[0], ledger=url(tmp_path), changed=True)
    assert float(spent(tmp_path)[0]) == pytest.approx(2 * one) and spent(tmp_path)[1] == 3
    with pytest.raises(cp.errors.RefusedError):
        cp.release(study, others[1], ledger=url(tmp_path), changed=True)


def test_people_and_odd_numbers(tmp_path: Path) -> None:
    """Ids of 64 bits, infinities, -0.0 and NaN, and 10^5 columns that nobody declared."""
    study: dict[str, Any] = {
        "epsilon": 300.0,
        "delta": 1e-6,
        "data": {"adjacency": "add-remove", "person": "id", "rows": 1, "column": [{"name": "x", "bounds": [0, 10]}]},
        "statistic": [
            {"name": "rows", "kind": "count", "pin": True, "epsilon": 50},
            {"name": "low", "kind": "count", "where": "x <= 0", "pin": True, "epsilon": 50},
            {"name": "there", "kind": "count", "where": "x >= 0 OR x < 0", "pin": True, "epsilon": 50},
        ],
    }
    # The third and the fourth are one double.
    ids = [1, 2, 2**64 - 1, 2**64 - 2, 2**64 - 1, 2**63]
    numbers = [-0.0, float("nan"), float("inf"), float("-inf"), float("inf"), 5.0]
    frames = [
        {"id": ids, "x": numbers},
        pd.DataFrame({"id": np.array(ids, dtype=np.uint64), "x": numbers}),
        pl.DataFrame({"id": pl.Series(ids, dtype=pl.UInt64), "x": numbers}),
        pa.table({"id": pa.array([decimal.Decimal(one) for one in ids]), "x": numbers}),
    ]
    found = [cp.release(study, frame, ledger=url(tmp_path)) for frame in frames]
    assert found[0].to_dict()["value"] == [5, 2, 4]
    assert all(one == found[0] for one in found)
    wide = pa.table({"id": [1, 2], "x": [1.0, 2.0], **{f"c{k}": [k, None] for k in range(100_000)}})
    started = time.monotonic()
    assert cp.release(study, wide, ledger=url(tmp_path / "..") + ".wide").to_dict()["value"][0] == 2
    assert time.monotonic() - started < 120


def test_what_is_fingerprinted_is_counted_whoever_writes_meanwhile(tmp_path: Path) -> None:
    """The frame's memory is written to while it is released: what counts is what it held when the call began."""
    ages = np.array(AGES, dtype=np.int64)
    table = pa.table({**columns(), "age": pa.array(ages)})
    assert table["age"].chunk(0).buffers()[1].address == ages.ctypes.data, "the frame and numpy share no memory"
    written = []

    def write(done: float) -> None:
        written.append(done)
        ages[:] = 99

    study = {**EXACT, "statistic": EXACT["statistic"] + [
        {"name": f"more {k}", "kind": "mean", "column": "age", "where": f"age > {k}", "error": 20} for k in range(20)
    ]}
    first = cp.release(study, table, ledger=url(tmp_path), progress=write)
    assert written and table["age"][0].as_py() == 99
    assert first.to_dict()["value"][:3] == counts()[:3]
    assert cp.release(study, columns(), ledger=url(tmp_path)) == first


def test_writers_in_other_threads_break_nothing(tmp_path: Path, full: bool) -> None:
    """Offsets of texts, keys and validity that change at any moment are refused or read as something, and crash nothing."""
    offsets = np.arange(0, 7 * 50_001, 7, dtype=np.int32)
    keys, valid = np.zeros(50_000, dtype=np.int32), np.full(6_250, 255, dtype=np.uint8)
    texts = pa.Array.from_buffers(pa.string(), 50_000, [pa.py_buffer(valid), pa.py_buffer(offsets), pa.py_buffer(b"north, " * 50_000)])
    coded = pa.DictionaryArray.from_buffers(pa.dictionary(pa.int32(), pa.string()), 50_000, [None, pa.py_buffer(keys)], pa.array(["north"]))
    over = threading.Event()

    def write() -> None:
        rng = np.random.default_rng(1)
        while not over.is_set():
            at = rng.integers(1, 50_000)
            offsets[at], keys[at], valid[at // 8] = rng.integers(-(2**31), 2**31, 2).tolist() + [rng.integers(256)]
            offsets[at], keys[at] = 7 * at, 0

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for round in range(200 if full else 8):
            data = pa.table({"age": np.zeros(50_000), "income": np.zeros(50_000), "region": [texts, coded][round % 2]})
            try:
                cp.release({**EXACT, "data": {**EXACT["data"], "people": 50_000}}, data, ledger=url(tmp_path), changed=True)
            except (cp.InvalidArgumentError, cp.errors.RefusedError) as error:
                assert "\n" not in str(error)
    finally:
        over.set()
        writer.join()


def test_forks_during_a_release_tell_its_numbers(tmp_path: Path) -> None:
    """A fork has the locks that other threads held and nobody gives back: it may wait for ever, and tells nothing else."""

    def told() -> str:
        signal.alarm(10)
        return cp.release(EXACT, columns(), ledger=url(tmp_path)).csv

    def fork() -> str | None:
        try:
            return str(forked(told))
        except json.JSONDecodeError:
            return None

    found: list[cp.Publication] = []
    thread = threading.Thread(target=lambda: found.append(cp.release(EXACT, columns(), ledger=url(tmp_path))))
    thread.start()
    during = [fork() for _ in range(3)]
    thread.join()
    assert {*during} <= {found[0].csv, None} and fork() == found[0].csv
    assert spent(tmp_path)[1] == 2
    cp.Ledger(url(tmp_path)).verify()


WORKER = """
import sys
import counterpoint as cp
sys.path.insert(0, sys.argv[1])
from test_release import NOISY, columns
print("begun", flush=True)
print(cp.release(NOISY, columns(), out=sys.argv[2]).csv, end="", flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_release_that_was_stopped_goes_on(how: signal.Signals, tmp_path: Path, full: bool) -> None:
    """Stopped at any moment: never two answers, never an answer without its debit, no half of a file."""
    whole = 2.0
    for round in range(50 if full else 5):
        out = tmp_path / str(round)
        command = [sys.executable, "-c", WORKER, str(Path(__file__).parent), str(out)]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert worker.stdout and worker.stdout.readline() == "begun\n"
        started = time.monotonic()
        if round:
            time.sleep(whole * random.random())
            worker.send_signal(how)
        said = worker.communicate()[0]
        whole = time.monotonic() - started if not round else whole
        assert worker.returncode in ((0,) if not round else (0, -how, 1, 130))
        file = out / "release.csv"
        seen = {text for text in (said, file.read_text() if file.exists() else "") if text}
        again = cp.release(NOISY, columns(), out=out)
        assert seen <= {again.csv} and file.read_text() == again.csv
        assert spent(out)[1] == 2 and not list(out.glob("*.part")) or how == signal.SIGKILL
        cp.Ledger(url(out)).verify()


def test_progress_stops_it_before_it_is_charged(tmp_path: Path) -> None:
    study = {**EXACT, "statistic": EXACT["statistic"] + [
        {"name": f"more {k}", "kind": "mean", "column": "age", "where": f"age > {k}", "error": 20} for k in range(20)
    ]}
    with pytest.raises(cp.StoppedError):
        cp.release(study, columns(), ledger=url(tmp_path), progress=lambda done: False)
    time.sleep(1)
    assert not (tmp_path / "ledger.db").exists()
