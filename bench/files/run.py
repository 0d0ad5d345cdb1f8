"""Counts for 20 questions about a Parquet file, at most 3 rows of a person: our engine beside DuckDB, in CPU seconds.

    python3 -m venv target/files && target/files/bin/pip install numpy pyarrow duckdb
    cargo build --release -p counterpoint-curator --example count_file
    target/files/bin/python bench/files/run.py [ROWS]
"""

import os
import pathlib
import resource
import subprocess
import sys

import duckdb
import numpy
import pyarrow
import pyarrow.parquet

here = pathlib.Path(__file__).parent
target = here.parent.parent / "target"


def write(file: pathlib.Path, rows: int) -> None:
    random = numpy.random.default_rng(1)
    # Four rows a person on average, some with many.
    person = (random.pareto(1.5, rows) * rows / 12).astype("int64") % (rows // 4)
    random.shuffle(person)
    age = random.integers(0, 100, rows)
    income = numpy.round(random.lognormal(10, 0.8, rows), 2)
    missing = random.random(rows) < 0.05
    table = pyarrow.table({
        "person": person,
        "income": pyarrow.array(income, mask=missing),
        "age": age,
        "hours": numpy.round(random.normal(38, 9, rows), 1),
        "region": numpy.array(["north", "east", "south", "west"])[random.integers(0, 4, rows)],
        "sex": numpy.array(["f", "m"])[random.integers(0, 2, rows)],
        "year": random.integers(2020, 2025, rows),
    })
    pyarrow.parquet.write_table(table, file)


def cpu(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def bounded(question: str, file: pathlib.Path) -> str:
    """The same question over at most 3 rows of a person, chosen by a hash of the person and the row."""
    select, rest = question.split(" FROM t")
    where, _, group = rest.partition(" GROUP BY ")
    group = f" GROUP BY {group}" if group else ""
    order = "hash(person, income, age, hours, region, sex, year)"
    rows = f"SELECT *, row_number() OVER (PARTITION BY person ORDER BY {order}) AS number FROM '{file}'{where}"
    select = select.replace("VARIANCE", "var_pop")
    return f"{select} FROM ({rows}) WHERE number <= 3{group}"


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    file = target / f"bench-{rows}.parquet"
    if not file.exists():
        write(file, rows)
    before = cpu(resource.RUSAGE_CHILDREN)
    subprocess.run([target / "release/examples/count_file", file], check=True)
    ours = cpu(resource.RUSAGE_CHILDREN) - before
    questions = (here / "questions.sql").read_text().splitlines()
    connection = duckdb.connect()
    before = cpu(resource.RUSAGE_SELF)
    for question in questions:
        connection.execute(bounded(question, file)).fetchall()
    theirs = cpu(resource.RUSAGE_SELF) - before
    # The best that can be done by hand: rows are chosen once for all questions, which are then no longer bounded after their filters.
    before = cpu(resource.RUSAGE_SELF)
    rows_once = bounded("SELECT * FROM t", file)
    connection.execute(f"CREATE TEMP TABLE t AS {rows_once}")
    for question in questions:
        connection.execute(question.replace("VARIANCE", "var_pop")).fetchall()
    once = cpu(resource.RUSAGE_SELF) - before
    print(f"{rows} rows, {os.cpu_count()} processors, CPU seconds: ours {ours:.2f}, DuckDB {theirs:.2f} ({ours / theirs:.3f}), "
          f"DuckDB choosing rows once {once:.2f} ({ours / once:.3f})")


if __name__ == "__main__":
    main()
