"""Studies: `plan` and `study new`."""

from composed import WRONG, asked
from plans import NAMES, Text, number

COLUMNS = (
    {"name": "income", "bounds": Text("[0, 200000]")},
    {"name": "age", "bounds": Text("[0, 100]"), "missing": Text("40")},
    {"name": "hours", "bounds": Text("[0, 80]"), "complete": Text("true")},
    {"name": "region", "categories": ["north", "east", "south", "west"]},
    {"name": "sex", "categories": ["f", "m"]},
)


def statistic(draws, is_about, by_error):
    kinds = (
        "count",
        "proportion",
        "sum",
        "mean",
        "mean",
        "variance",
        "standard-deviation",
        "histogram",
        "quantiles",
        "cdf",
        "covariance",
        "correlation",
        "regression",
    )
    kind = draws.choice(kinds)
    fields = {"kind": kind}
    if is_about:
        column = draws.choice(("income", "age", "hours"))
        if kind != "count":
            fields["column"] = column
        if kind == "proportion":
            fields |= draws.choice(
                ({"column": "region", "categories": ["north", "west"]}, {"bounds": Text("[10, 50]")})
            )
        elif kind == "histogram" and draws.chance(0.5):
            fields["column"] = "region"
        elif kind in ("covariance", "correlation"):
            fields["with"] = draws.choice(("age", "hours", "income"))
        elif kind == "regression":
            fields["predictors"] = ["age"] if column != "age" else ["hours", "income"]
        if draws.chance(0.3):
            fields["by"] = draws.choice(("region", ["sex"], ["region", "sex"]))
        if draws.chance(0.3):
            fields["where"] = draws.choice(
                (
                    "age BETWEEN 18 AND 65",
                    "region = 'north'",
                    "income > 1000 AND sex <> 'f'",
                    "region = 'nowhere'",
                    "age >",
                )
            )
        if draws.chance(0.15):
            fields["expected"] = Text(str(draws.choice((100, 500, 1000))))
    else:
        bounds = Text(draws.choice(("[0, 100]", "[0, 200000]", "[-1, 1]", "[18, 95]")))
        if kind == "histogram":
            fields |= draws.choice(({"categories": ["a", "b", "c"]}, {"bins": Text("[0, 10, 20, 50]")}))
        elif kind != "count" or draws.chance(0.3):
            fields["bounds"] = bounds
        if kind in ("cdf", "quantiles") and draws.chance(0.4):
            fields["points"] = Text(str(draws.whole(5, 60)))
        if kind == "quantiles" and draws.chance(0.5):
            fields["shares"] = Text("[0.25, 0.5, 0.75]")
        if kind in ("covariance", "correlation"):
            fields["with"] = Text("[0, 1]")
        if kind == "regression":
            fields["predictors"] = Text(draws.choice(("[[0, 1]]", "[[0, 1], [-5, 5]]")))
    scale = {
        "proportion": 0.02,
        "correlation": 0.1,
        "regression": 0.2,
        "sum": 1e5,
        "mean": 10,
        "variance": 200,
        "standard-deviation": 5,
        "covariance": 50,
    }.get(kind, 60)
    if kind in ("correlation", "regression") and draws.chance(0.95):
        # No error of theirs holds for all data.
        fields |= {"pin": Text("true"), "epsilon": number(draws, 0.02, 0.5)}
    elif by_error and draws.chance(0.97):
        fields["error"] = number(draws, scale / 3, scale * 10)
        if draws.chance(0.1):
            fields["pin"] = Text("true")
    elif draws.chance(0.7):
        fields["weight"] = number(draws, 0.3, 5)
    if draws.chance(0.15):
        fields["confidence"] = Text(draws.choice(("0.9", "0.99", "0.5")))
    if draws.chance(0.15) and kind != "quantiles":
        fields["noise"] = draws.choice(("laplace", "gaussian"))
    return fields


def study(draws, number_of):
    is_about = draws.chance(0.5)
    data = {"adjacency": draws.choice(("replace", "replace", "add-remove"))}
    if draws.chance(0.96):
        data["people"] = Text(str(draws.choice((1000, 5000, 50000, 12345))))
    if draws.chance(0.1):
        data["rows"] = Text(str(draws.whole(1, 4)))
        data["person"] = "respondent"
    elif draws.chance(0.1) and data["adjacency"] == "replace":
        data["sample_of"] = Text("4000000")
    if is_about:
        data["column"] = list(COLUMNS)
    by_error = draws.chance(0.6)
    statistics = [statistic(draws, is_about, by_error) for _ in range(draws.whole(1, 5))]
    for place, one in enumerate(statistics):
        if draws.chance(0.4):
            one["name"] = f"{draws.choice(NAMES)} {place}"
    if draws.chance(0.15):
        statistics.append({"kind": "held-back", "name": "later", "epsilon": number(draws, 0.05, 0.3)})
    table = {"delta": number(draws, 1e-9, 1e-5)}
    if not by_error or draws.chance(0.6):
        table["epsilon"] = number(draws, 0.5, 4)
    if draws.chance(0.1):
        table["goal"] = draws.choice(("squared", "squared", "relative", "cubic"))
    if number_of % 8 == 0:
        place = draws.choice([table, data, *statistics])
        place[draws.choice(list(place) + ["colour"])] = Text(draws.choice(WRONG))
    table |= {"data": data, "statistic": statistics}
    options = ["--json"] if draws.chance(0.6) else []
    if draws.chance(0.15):
        options += ["--out", draws.choice(("out.toml", "out.json"))]
    if draws.chance(0.08):
        options += ["--svg", "plan.svg"]
    return asked(["plan", "PLAN", *options], table, draws)


BOOKS = {
    "frictionless.json": '{"missingValues": ["", "-99"], "fields": [{"name": "age", "type": "integer", "title": "Age in years", "constraints": {"minimum": 18, "maximum": 99}}, '
    '{"name": "region", "type": "string", "constraints": {"enum": ["north", "the \\"east\\""]}}, {"name": "income", "type": "number", "constraints": {"minimum": 0}}, '
    '{"name": "employed", "type": "boolean"}, {"name": "born", "type": "date"}]}',
    "csvw.json": '{"@context": "http://www.w3.org/ns/csvw", "url": "survey.csv", "null": ["NA", "-1"], "tableSchema": {"columns": [{"name": "age", "titles": "Age", '
    '"datatype": {"base": "integer", "minimum": 0, "maxInclusive": 120}}, {"name": "region", "datatype": {"base": "string", "format": "^(north|south west)$"}}, '
    '{"name": "income", "datatype": "decimal"}]}}',
    "ddi.xml": '<?xml version="1.0"?><codeBook xmlns="ddi:codebook:2_5"><dataDscr><var name="age" intrvl="contin"><labl>Age</labl><valrng><range min="18" max="99"/></valrng>'
    '<invalrng><item VALUE="-1"/></invalrng><sumStat type="min">19</sumStat></var><var name="sex"><valrng><range min="1" max="2"/></valrng><catgry><catValu>1</catValu><labl>male</labl></catgry>'
    '<catgry><catValu>2</catValu><labl>female</labl></catgry><catgry missing="Y"><catValu>9</catValu></catgry></var></dataDscr></codeBook>',
    "broken.json": '{"fields": [',
    "empty.json": "{}",
}
HEADERS = (
    "age,region,income\n1,2,3\n",
    "respondent,age,sex,region,employed,born\n",
    '\ufeffid,Age,"region, of ""four"""\r\n1,2,3\r\n',
    "age;sex\n",
    "1,2,3\n4,5,6\n",
    "",
    "age,age\n",
    "age,,sex\n",
    '"age\n',
    "Größe,age\n",
    "a" * 200 + ",age\n",
)


def study_new(draws, number_of):
    if number_of % 5 == 4:
        name, text = (
            "survey.jsonl",
            draws.choice(('{"age": 1, "region": "x"}\n{"sex": 2}\n', "[1]\n", "", '{"age": {"x": 1}}\n', '{"age": 1')),
        )
    else:
        name, text = draws.choice(("survey.csv",) * 9 + ("survey.txt",)), HEADERS[number_of % len(HEADERS)]
    files = {name: text}
    args = ["study", "new", name]
    if draws.chance(0.65):
        book = draws.choice(list(BOOKS))
        files[book] = BOOKS[book]
        args += ["--codebook", book]
    return {"args": args, "files": files}
