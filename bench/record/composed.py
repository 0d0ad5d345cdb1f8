"""Questions of `compose`."""

import plans
from plans import KINDS, QUICK, SLOW, Text, toml, written


def asked(args, table=None, draws=None, **more):
    """A question about a table: on standard input mostly, else in a file."""
    question = {"args": args}
    if table is not None:
        if draws.chance(0.85):
            question["stdin"] = written(draws, table)
            question["args"] = ["-" if arg == "PLAN" else arg for arg in args]
        else:
            is_json = draws.chance(0.3)
            name = "plan.json" if is_json else "plan.toml"
            question["files"] = {name: plans.as_json(table) if is_json else toml(table)}
            question["args"] = [name if arg == "PLAN" else arg for arg in args]
    return question | more


def compose(draws, table, *options):
    shown = ["--json"] if draws.chance(0.7) else []
    return asked(["compose", "PLAN", *options, *shown], table, draws)


def group(draws, share):
    return draws.whole(2, 5) if draws.chance(share) else None


def single(draws, number_of):
    """One kind of mechanism, with all its fields."""
    kind = list(KINDS)[number_of % len(KINDS)]
    most = {"gaussian-allocation": 30, "gaussian-batch": 200, "gaussian-draws": 100}.get(kind, 2000)
    release = plans.release(draws, kind, most, rate=0.3, part=0.04)
    return compose(draws, plans.plan(draws, [release], plans.question(draws), group=group(draws, 0.06)))


def mixed(draws, _):
    """Kinds that are composed quickly, together."""
    kinds = [draws.choice(QUICK + ("geometric", "staircase", "discrete-gaussian")) for _ in range(draws.whole(2, 6))]
    releases = [plans.release(draws, kind, 300, rate=0.03, part=0.03) for kind in kinds]
    return compose(draws, plans.plan(draws, releases, plans.question(draws), group=group(draws, 0.05)))


def varied(draws, _):
    """Any kinds, together."""
    kinds = [draws.choice(list(KINDS)) for _ in range(draws.whole(2, 4))]
    releases = [plans.release(draws, kind, 20 if kind in SLOW else 100, rate=0.1, part=0.03) for kind in kinds]
    return compose(draws, plans.plan(draws, releases, plans.question(draws), group=group(draws, 0.04)))


def many(draws, _):
    """Lists of one kind or two, each release with numbers of its own."""
    kinds = draws.sample(
        ("approx-dp", "laplace", "randomized-response", "gaussian", "exponential", "gdp", "zcdp"), draws.whole(1, 2)
    )
    releases = [plans.release(draws, draws.choice(kinds), 5, named=0.1) for _ in range(draws.whole(8, 120))]
    return compose(draws, plans.plan(draws, releases, plans.question(draws)))


def sampled(draws, _):
    """Poisson samples: private training, mostly."""
    kinds = [
        draws.choice(("gaussian", "gaussian", "gaussian", "laplace", "approx-dp", "gdp", "discrete-gaussian", "finite"))
    ]
    if draws.chance(0.3):
        kinds.append(draws.choice(("gaussian", "laplace", "approx-dp")))
    releases = [plans.release(draws, kind, 20000, rate=0.95) for kind in kinds]
    return compose(draws, plans.plan(draws, releases, plans.question(draws)))


def parted(draws, _):
    """Releases about parts of the data, for add-remove and for replace."""
    kinds = [draws.choice(QUICK) for _ in range(draws.whole(2, 6))]
    releases = [plans.release(draws, kind, 50, part=0.7) for kind in kinds]
    adjacency = "replace" if draws.chance(0.12) else "add-remove"
    return compose(draws, plans.plan(draws, releases, plans.question(draws), adjacency, group(draws, 0.1)))


def grouped(draws, _):
    """Groups of people."""
    kinds = [draws.choice(list(KINDS) if draws.chance(0.2) else QUICK) for _ in range(draws.whole(1, 3))]
    releases = [plans.release(draws, kind, 30, rate=0.05) for kind in kinds]
    return compose(draws, plans.plan(draws, releases, plans.question(draws), group=draws.whole(2, 12)))


ROUTES = ("closed", "equal", "grouped", "halves", "contour", "lattice", "convolution", "renyi", "precise")


def routed(draws, number_of):
    """A route by force, where it applies and where it does not."""
    route = ROUTES[number_of % len(ROUTES)]
    fit = {
        "closed": lambda: [
            plans.release(draws, draws.choice(("gaussian", "laplace", "gdp", "name-and-shame", "approx-dp")), 50)
        ],
        "equal": lambda: [plans.release(draws, "approx-dp", 2000)],
        "grouped": lambda: [plans.release(draws, "approx-dp", 40) for _ in range(draws.whole(2, 3))],
        "halves": lambda: [plans.release(draws, "approx-dp", 2) for _ in range(draws.whole(3, 10))],
        "renyi": lambda: [plans.release(draws, draws.choice(list(KINDS)), 100) for _ in range(draws.whole(1, 3))],
        "precise": lambda: [
            plans.release(draws, draws.choice(("approx-dp", "name-and-shame")), 30) for _ in range(draws.whole(1, 3))
        ],
    }

    def usual():
        return [plans.release(draws, draws.choice(QUICK), 100, rate=0.05) for _ in range(draws.whole(1, 4))]

    releases = fit.get(route, usual)() if draws.chance(0.8) else usual()
    options = ["--route", route]
    if draws.chance(0.3) and route != "precise":
        options += ["--tolerance", draws.choice(("1e-2", "1e-4", "1e-8"))]
    return compose(draws, plans.plan(draws, releases, plans.question(draws)), *options)


def tolerated(draws, _):
    """Tolerances, from the command line, as the question may be, too."""
    kinds = [draws.choice(QUICK + ("geometric", "staircase")) for _ in range(draws.whole(1, 4))]
    releases = [plans.release(draws, kind, 200, rate=0.05) for kind in kinds]
    options = ["--tolerance", draws.choice(("0.1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-7", "1e-8", "1e-9", "1e-10"))]
    own = plans.question(draws) if draws.chance(0.5) else None
    if own is None or draws.chance(0.3):
        ((name, value),) = plans.question(draws).items()
        options += [f"--{name}", str(value)]
    return compose(draws, plans.plan(draws, releases, own), *options)


def precise(draws, _):
    """Arbitrary precision."""
    kinds = (
        "approx-dp",
        "approx-dp",
        "approx-dp",
        "name-and-shame",
        "sparse-vector",
        "randomized-response",
        "geometric",
        "laplace",
    )
    releases = [plans.release(draws, draws.choice(kinds), 20) for _ in range(draws.whole(1, 3))]
    for release in releases:
        release.pop("buckets", None)
    options = ["--bits", str(draws.choice((8, 53, 64, 100, 128, 200, 256)))]
    if draws.chance(0.15):
        options += ["--route", draws.choice(("precise", "precise", "equal"))]
    return compose(draws, plans.plan(draws, releases, plans.question(draws)), *options)


def losses(draws, _):
    """The privacy loss itself."""
    kinds = [draws.choice(list(KINDS) if draws.chance(0.5) else QUICK) for _ in range(draws.whole(1, 3))]
    releases = [plans.release(draws, kind, 10, rate=0.05, part=0.05) for kind in kinds]
    options = ["--losses"]
    if draws.chance(0.2):
        options += ["--tolerance", draws.choice(("1e-2", "1e-4", "1e-8"))]
    own = plans.question(draws) if draws.chance(0.5) else None
    return compose(draws, plans.plan(draws, releases, own, group=group(draws, 0.05)), *options)


EXTREMES = {
    "epsilon": ("0", "1e-300", "1e-17", "700", "1e4", "1e300"),
    "delta": ("0", "1e-300", "0.5", "0.999999"),
    "scale": ("1e-3", "1e-300", "1e300", "1e12"),
    "sigma": ("1e-3", "0.01", "1e-300", "1e300", "1e10"),
    "sensitivity": ("0", "1e-300", "1e300", "1000"),
    "rho": ("0", "1e-300", "1e6"),
    "omega": ("1.000001", "1e300"),
    "mu": ("0", "1e-300", "50"),
    "gamma": ("0", "1", "1e-300"),
    "share": ("0", "1", "1e-12"),
    "rate": ("0", "1", "1e-12"),
    "count": ("1", "1e6", "1000000000", "1000000000000"),
    "epsilon_threshold": ("0", "1e-12", "600"),
    "epsilon_queries": ("0", "1e-12", "600"),
    "buckets": ("2", "1000000", "1e12"),
    "each": ("1", "2"),
    "steps": ("1", "1000"),
}


def extreme(draws, number_of):
    """One field at an end of its range."""
    kind = list(KINDS)[number_of % len(KINDS)]
    release = plans.release(draws, kind, 20, rate=0.2)
    names = [name for name in release if name in EXTREMES] or ["count"]
    name = draws.choice(names + ["count"])
    release[name] = Text(draws.choice(EXTREMES[name]))
    if name == "count":
        release.pop("epochs", None)
    return compose(draws, plans.plan(draws, [release], plans.question(draws)))


WRONG = (
    "-1",
    "0",
    "1.5",
    "2",
    "1e400",
    "nan",
    "-0.0",
    '"text"',
    '"1/0"',
    '"2^5000"',
    "true",
    "[]",
    "[1, 2]",
    "{}",
    '""',
    "1e13",
    "-1e-9",
    "9007199254740993",
    "0.1",
    '"1/3"',
    "99999999999999999999999999",
)


def broken(draws, number_of):
    """A plan with something wrong in it."""
    kind = list(KINDS)[number_of % len(KINDS)]
    releases = [plans.release(draws, kind, 20, rate=0.2)]
    if draws.chance(0.3):
        releases.insert(0, plans.release(draws, "laplace", 5))
    release, table = releases[-1], plans.plan(draws, releases, plans.question(draws))
    own = [name for name in release if name not in ("mechanism", "name")]
    way = number_of % 12
    if way < 5:
        release[draws.choice(own)] = Text(draws.choice(WRONG))
    elif way == 5:
        del release[draws.choice(own)]
    elif way == 6:
        release[
            draws.choice(
                (
                    "epsilon",
                    "delta",
                    "sigma",
                    "scale",
                    "rate",
                    "batch",
                    "epochs",
                    "Count",
                    "gamma",
                    "p",
                    "csv",
                    "also",
                    "recipe",
                )
            )
        ] = Text(draws.choice(WRONG))
    elif way == 7:
        release["mechanism"] = draws.choice(("Laplace", "gausian", "", "laplace ", "dp-sgd"))
    elif way == 8:
        top = draws.choice(("version", "delta", "epsilon", "adjacency", "group", "target", "release", "people"))
        table = {top: Text(draws.choice(WRONG))} | {name: one for name, one in table.items() if name != top}
    elif way == 9:
        release[draws.choice(("name", "partition", "mechanism"))] = Text(draws.choice(WRONG))
    elif way == 10:
        table = {
            name: one for name, one in table.items() if name not in ("delta", "epsilon", "adjacency")
        } | draws.choice(
            (
                {},
                {"delta": Text("1e-6"), "epsilon": Text("1")},
                {"adjacency": "swap"},
                {"release": [], "delta": Text("0.1")},
            )
        )
    else:
        text = written(draws, table)
        cut = draws.choice(
            (
                text[: draws.below(len(text))],
                text.replace("=", ":", 1),
                "\ufeff" + text,
                text + "}",
                text * 2,
                text.replace("\n", ""),
            )
        )
        return {"args": ["compose", "-"], "stdin": cut}
    return compose(draws, table)


OPTIONS = (
    ("--delta", "2"),
    ("--delta", "-1"),
    ("--delta", "x"),
    ("--delta", "1/3"),
    ("--delta", "2^-25"),
    ("--epsilon", "-1"),
    ("--epsilon", "nan"),
    ("--epsilon", "inf"),
    ("--epsilon", "1/3"),
    ("--epsilon", "1", "--delta", "1e-6"),
    ("--tolerance", "0"),
    ("--tolerance", "1"),
    ("--tolerance", "1e-16"),
    ("--route", "fast"),
    ("--route", ""),
    ("--bits", "7"),
    ("--bits", "1e9"),
    ("--bits", "64", "--tolerance", "1e-3"),
    ("--losses", "--delta", "1e-6"),
    ("--losses", "--bits", "64"),
    ("--jsn",),
    ("--help",),
    ("extra",),
    ("--delta",),
    ("--json", "--json"),
)


def misused(draws, number_of):
    """Options that are not legal, or not together."""
    releases = [plans.release(draws, draws.choice(QUICK), 20)]
    table = plans.plan(draws, releases, plans.question(draws) if draws.chance(0.6) else None)
    return compose(draws, table, *OPTIONS[number_of % len(OPTIONS)])
