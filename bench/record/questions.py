"""The questions that are recorded: more than 6,000, the same ones each time.

A question is {"id": ..., "args": [...], "stdin": ..., "files": {name: text}}. Questions with one id before the stroke
(ledger-0003/05) are asked in turn in one folder; every other one has a folder of its own.
"""

import commands
import composed
import ledgers
import studies
from plans import Draws

SEED = "counterpoint"

FAMILIES = {
    "compose-single": (composed.single, 1320),
    "compose-mixed": (composed.mixed, 700),
    "compose-varied": (composed.varied, 300),
    "compose-many": (composed.many, 200),
    "compose-sampled": (composed.sampled, 250),
    "compose-parts": (composed.parted, 120),
    "compose-group": (composed.grouped, 130),
    "compose-route": (composed.routed, 306),
    "compose-tolerance": (composed.tolerated, 150),
    "compose-bits": (composed.precise, 120),
    "compose-losses": (composed.losses, 180),
    "compose-extreme": (composed.extreme, 198),
    "compose-wrong": (composed.broken, 264),
    "compose-options": (composed.misused, 50),
    "compare": (commands.compare, 160),
    "calibrate": (commands.calibrate, 300),
    "region": (commands.region, 140),
    "audit": (commands.audit, 130),
    "convert": (commands.convert, 60),
    "noise": (commands.noise, 60),
    "simulate": (commands.simulate, 150),
    "plan": (studies.study, 220),
    "study-new": (studies.study_new, 44),
    "ledger": (ledgers.ledger, 44),
    "figures": (commands.figure, 16),
}


def all_questions():
    """Every question, sorted by id."""
    questions = []
    for family, (make, many_of) in FAMILIES.items():
        for at in range(many_of):
            # A ledger reads exact decimals alone.
            made = make(Draws(SEED, family, at, is_decimal=family == "ledger"), at)
            name = f"{family}-{at:04}"
            each = (
                [(f"{name}/{turn:02}", one) for turn, one in enumerate(made)]
                if isinstance(made, list)
                else [(name, made)]
            )
            questions += [{"id": id} | one for id, one in each]
    questions += [{"id": f"usage-{at:04}", "args": args} for at, args in enumerate(commands.usage())]
    questions += [{"id": f"examples-{at:04}"} | one for at, one in enumerate(commands.examples())]
    return sorted(questions, key=lambda one: one["id"])
