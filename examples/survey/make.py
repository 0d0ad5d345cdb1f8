#!/usr/bin/env python3
"""Makes survey.csv: a survey of 12,000 people who do not exist.

    python3 make.py [FILE]

The file is written beside this script unless another one is named. It is the same with every version of Python from 3.8 on:
chance enters by random() alone, whose sequence for a seed is fixed.
"""

import csv
import random
import sys
from pathlib import Path
from statistics import NormalDist

PEOPLE = 12_000
SEED = 20_240_601

COLUMNS = [
    "respondent", "region", "sex", "age", "education", "employment", "income", "hours", "household", "health", "internet",
    "commute",
]
EDUCATION = ["none", "primary", "secondary", "vocational", "university"]

_random = random.Random(SEED).random
_normal = NormalDist()


def normal(mean, deviation):
    return mean + deviation * _normal.inv_cdf(min(max(_random(), 1e-12), 1 - 1e-12))


def happens(chance):
    return _random() < chance


def one_of(chances):
    """A key of a table of chances, which need not add up to one."""
    left = _random() * sum(chances.values())
    for key, chance in chances.items():
        left -= chance
        if left < 0:
            return key
    return key


def within(low, value, high):
    return min(max(value, low), high)


def education(age, region):
    # Younger people went to school for longer, and the west has the universities.
    level = normal(2.9 - 0.022 * (age - 45) + (0.35 if region == "west" else 0), 1.1)
    return within(0, round(level), 4)


def employment(age, sex, level):
    if age >= 66 or (age >= 60 and happens(0.4)):
        return one_of({"retired": 0.94, "employed": 0.04, "self-employed": 0.02})
    if age <= 25 and happens(0.8 - 0.08 * (age - 18)):
        return "student"
    at_home = 0.17 if sex == "female" else 0.05
    return one_of({
        "employed": 0.68 + 0.03 * level,
        "self-employed": 0.10,
        "unemployed": 0.13 - 0.022 * level,
        "inactive": at_home,
    })


def hours(status, sex):
    if status == "self-employed":
        return within(2, round(normal(44, 12)), 80)
    if happens(0.38 if sex == "female" else 0.09):
        return within(2, round(normal(22, 6)), 34)
    return within(20, round(normal(39.5, 4)), 70)


def income(status, level, age, region, worked, sex):
    """Euros a year, before tax."""
    place = {"north": 1.0, "east": 0.88, "south": 0.94, "west": 1.13}[region]
    if status in ("employed", "self-employed"):
        experience = min(age - 18, 32)
        hourly = 9.5 * place * (1 + 0.24 * level) * (1 + 0.013 * experience) * (0.94 if sex == "female" else 1)
        spread = 0.55 if status == "self-employed" else 0.27
        return hourly * worked * 50 * 2.718281828 ** normal(0, spread)
    typical = {"retired": 17_500 + 3_600 * level, "student": 6_500, "unemployed": 10_500, "inactive": 6_000}[status]
    return typical * place * 2.718281828 ** normal(0, 0.35)


def person(number):
    region = one_of({"north": 0.22, "east": 0.18, "south": 0.27, "west": 0.33})
    sex = one_of({"female": 0.515, "male": 0.485})
    age = int(within(18, 18 + 78 * _random() ** 1.25, 95))
    level = education(age, region)
    status = employment(age, sex, level)
    works = status in ("employed", "self-employed")
    worked = hours(status, sex) if works else None
    earned = int(round(income(status, level, age, region, worked, sex), -1))
    alone = 0.42 if age >= 70 or age <= 25 else 0.2
    household = 1 if happens(alone) else one_of({2: 0.46, 3: 0.22, 4: 0.2, 5: 0.08, 6: 0.03, 7: 0.01})
    health = round(within(0, normal(88 - 0.42 * (age - 18) + 2.2 * level - (7 if status == "unemployed" else 0), 13), 100))
    offline = within(0.01, 0.02 + 0.011 * max(age - 50, 0) - 0.02 * level, 0.7)
    internet = one_of({"daily": 0.9 * (1 - offline), "weekly": 0.1 * (1 - offline), "rarely": 0.4 * offline, "never": 0.6 * offline})
    from_home = works and happens(0.05 + 0.04 * level)
    travels = works and not from_home
    commute = int(within(1, 5 * round(2.718281828 ** normal(3.15 + (0.25 if region == "west" else 0), 0.6) / 5), 180)) if travels else None
    # Not everybody answers everything: those who earn much tell it less often.
    if happens(0.05 + (0.10 if earned > 60_000 else 0) + (0.04 if status == "self-employed" else 0)):
        earned = None
    if happens(0.02):
        health = None
    if happens(0.015):
        internet = None
    school = None if happens(0.01) else EDUCATION[level]
    return [f"R{number:05}", region, sex, age, school, status, earned, worked, household, health, internet, commute]


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("survey.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(person(number + 1) for number in range(PEOPLE))


if __name__ == "__main__":
    main()
