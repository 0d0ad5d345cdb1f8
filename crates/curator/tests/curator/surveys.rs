//! A survey with every kind of statistic, and the true values, computed by loops over the rows that share no code with the product.

use counterpoint_curator::{RowSource, Spend};
use counterpoint_studies::{StudyFile, read_study_file};
use counterpoint_wire::Format;
use std::path::Path;

/// A row: whose it is, and what is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) person: usize,
    pub(crate) income: Option<f64>,
    pub(crate) age: Option<f64>,
    pub(crate) region: Option<usize>,
    pub(crate) sex: usize,
}

pub(crate) const REGIONS: [&str; 3] = ["north", "east", "south"];
pub(crate) const SEXES: [&str; 2] = ["f", "m"];

/// Nine thousand rows of three thousand people; incomes are missing, and outside of what is declared.
pub(crate) fn rows() -> Vec<Row> {
    let row = |i: usize| Row {
        person: i / 3,
        income: (!i.is_multiple_of(7)).then(|| ((i * 7919) % 1_300) as f64 - 150.0),
        age: (i % 11 != 3).then(|| ((i * 104_729) % 95) as f64),
        region: (i % 13 != 5).then_some((i * 31 / 7) % 3),
        sex: usize::from((i * 17) % 5 < 2),
    };
    (0..9_000).map(row).collect()
}

/// As CSV.
pub(crate) fn csv(rows: &[Row]) -> String {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    let line = |row: &Row| {
        let region = row.region.map_or("", |region| REGIONS[region]);
        let (income, age, sex) = (number(row.income), number(row.age), SEXES[row.sex]);
        format!("{},{income},{age},{region},{sex}\n", row.person)
    };
    "nr,income,age,region,sex\n".to_owned() + &rows.iter().map(line).collect::<String>()
}

/// Every kind, ungrouped, grouped and filtered; the first word of a name is the kind.
const STATISTICS: [(&str, &str); 24] = [
    ("count", "where = \"age >= 18\""),
    ("count by region", "by = [\"region\"]"),
    ("proportion", "column = \"region\"\ncategories = [\"north\", \"east\"]"),
    ("proportion by sex", "column = \"income\"\nbounds = [0, 300]\nby = [\"sex\"]"),
    ("sum", "column = \"income\""),
    ("sum by region", "column = \"age\"\nby = [\"region\"]"),
    ("mean", "column = \"income\""),
    ("mean of age", "column = \"age\""),
    ("mean of the old", "column = \"income\"\nwhere = \"age > 50 AND sex = 'm'\""),
    ("mean by region and sex", "column = \"income\"\nby = [\"region\", \"sex\"]"),
    ("variance", "column = \"income\""),
    ("variance by sex", "column = \"age\"\nby = [\"sex\"]"),
    ("standard-deviation", "column = \"income\""),
    ("standard-deviation by sex", "column = \"income\"\nby = [\"sex\"]"),
    ("quantiles", "column = \"age\"\nshares = [0.25, 0.5]"),
    (
        "quantiles of the old",
        "column = \"income\"\nshares = [0.01, 0.9]\nwhere = \"age > 50 AND sex = 'm'\"",
    ),
    ("quantiles by region", "column = \"income\"\nby = [\"region\"]"),
    ("histogram", "column = \"age\"\nbins = [0, 18, 65, 95]"),
    ("histogram of region by sex", "column = \"region\"\nby = [\"sex\"]"),
    ("cdf", "column = \"income\"\nbins = [100, 400, 800]"),
    ("covariance", "column = \"income\"\nwith = \"age\""),
    ("covariance by sex", "column = \"income\"\nwith = \"age\"\nby = [\"sex\"]"),
    ("correlation", "column = \"income\"\nwith = \"age\""),
    ("regression", "column = \"income\"\npredictors = [\"age\"]"),
];

/// A study of the survey, and its rows.
pub(crate) struct Survey {
    pub(crate) study: StudyFile,
    pub(crate) source: RowSource,
}

/// The survey, by people who have up to three rows or by rows.
pub(crate) fn survey(folder: &Path, adjacency: &str, person: bool) -> Survey {
    let file = folder.join("survey.csv");
    std::fs::write(&file, csv(&rows())).unwrap();
    let source = RowSource::of_file(&file).unwrap();
    Survey { study: study(adjacency, person), source }
}

pub(crate) fn study(adjacency: &str, person: bool) -> StudyFile {
    read_study_file(text(adjacency, person).as_bytes(), Format::Toml).unwrap()
}

/// What each statistic may cost: an epsilon of its own for pure noise, or a rho for Gaussian.
pub(crate) fn spend(is_pure: bool) -> Spend {
    if is_pure { Spend::Epsilon(0.3) } else { Spend::Rho(0.02) }
}

/// Relations, whether a person has several rows, and whether noise is pure.
pub(crate) fn cases() -> impl Iterator<Item = (&'static str, bool, bool)> {
    let all = [(false, true), (true, false), (false, false), (true, true)];
    let relations = ["add-remove", "replace"].into_iter();
    relations.flat_map(move |adjacency| all.map(|(person, is_pure)| (adjacency, person, is_pure)))
}

/// The study as it is written.
pub(crate) fn text(adjacency: &str, person: bool) -> String {
    let statistic = |(name, rest): &(&str, &str)| {
        let kind = name.split(' ').next().unwrap();
        format!(
            "[[statistic]]\nname = \"{name}\"\nkind = \"{kind}\"\n{rest}\npin = true\nepsilon = 0.3\n"
        )
    };
    let (who, people) = if person { ("person = \"nr\"\nrows = 3\n", 3_000) } else { ("", 9_000) };
    format!(
        "delta = 1e-6\nepsilon = 12\n[data]\nname = \"survey\"\nadjacency = \"{adjacency}\"\npeople = {people}\n{who}\
         [[data.column]]\nname = \"income\"\nbounds = [0, 1000]\n\
         [[data.column]]\nname = \"age\"\nbounds = [0, 95]\nmissing = 40\n\
         [[data.column]]\nname = \"region\"\ncategories = [\"north\", \"east\", \"south\"]\n\
         [[data.column]]\nname = \"sex\"\ncategories = [\"f\", \"m\"]\n{}",
        STATISTICS.iter().map(statistic).collect::<String>()
    )
}

fn clamped(row: &Row) -> Option<f64> {
    row.income.map(|income| income.clamp(0.0, 1_000.0))
}

/// A missing age is 40.
fn age(row: &Row) -> f64 {
    row.age.unwrap_or(40.0)
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

/// The least number that so large a share of the numbers is not above.
fn quantile(list: &[f64], share: f64) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(share * list.len() as f64 - 1e-9).ceil() as usize - 1]
}

/// The mean product of deviations.
fn moment(pairs: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    mean(&pairs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).collect::<Vec<_>>())
}

/// What a statistic is of some rows.
fn of_rows(name: &str, rows: &[&Row]) -> Vec<f64> {
    let incomes: Vec<f64> = rows.iter().filter_map(|row| clamped(row)).collect();
    let ages: Vec<f64> = rows.iter().map(|row| age(row)).collect();
    let pairs: Vec<(f64, f64)> =
        rows.iter().filter_map(|row| Some((clamped(row)?, age(row)))).collect();
    let twice = |list: &[f64]| list.iter().map(|x| (*x, *x)).collect::<Vec<_>>();
    let share = |part: usize, all: usize| vec![part as f64 / all as f64];
    match name {
        "proportion" => {
            let known = rows.iter().filter(|row| row.region.is_some());
            let part = known.clone().filter(|row| row.region != Some(2));
            share(part.count(), known.count())
        }
        // Values are compared as they are read.
        "proportion by sex" => {
            let known = rows.iter().filter_map(|row| row.income);
            share(known.clone().filter(|x| (0.0..=300.0).contains(x)).count(), known.count())
        }
        "sum" => vec![incomes.iter().sum()],
        "sum by region" => vec![ages.iter().sum()],
        "mean of age" => vec![mean(&ages)],
        name if name.starts_with("mean") => vec![mean(&incomes)],
        "variance by sex" => vec![moment(&twice(&ages))],
        "variance" => vec![moment(&twice(&incomes))],
        name if name.starts_with("standard") => vec![moment(&twice(&incomes)).sqrt()],
        "histogram" => {
            let bins = [(0.0, 18.0), (18.0, 65.0), (65.0, 95.0)];
            let count = |(from, to)| ages.iter().filter(|x| (from..to).contains(*x)).count() as f64;
            bins.into_iter().map(count).collect()
        }
        "quantiles" => [0.25, 0.5].map(|share| quantile(&ages, share)).to_vec(),
        "quantiles of the old" => [0.01, 0.9].map(|share| quantile(&incomes, share)).to_vec(),
        "quantiles by region" => vec![quantile(&incomes, 0.5)],
        "regression" => {
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(y, x)| (*x, *y)).unzip();
            let slope = moment(&pairs) / moment(&twice(&x));
            vec![mean(&y) - slope * mean(&x), slope]
        }
        "cdf" => {
            let read: Vec<f64> = rows.iter().filter_map(|row| row.income).collect();
            let count = |edge: f64| read.iter().filter(|x| **x < edge).count() as f64;
            [100.0, 400.0, 800.0].into_iter().map(count).collect()
        }
        "correlation" => {
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            vec![moment(&pairs) / (moment(&twice(&x)) * moment(&twice(&y))).sqrt()]
        }
        name if name.starts_with("covariance") => vec![moment(&pairs)],
        // How many there are.
        name if name.starts_with("count") || name.starts_with("histogram") => {
            vec![rows.len() as f64]
        }
        other => panic!("{other}"),
    }
}

/// For each group the true numbers of a statistic.
pub(crate) fn true_values(name: &str, rows: &[Row]) -> Vec<Vec<f64>> {
    let is_used = |row: &&Row| match name {
        "count" => age(row) >= 18.0,
        name if name.ends_with("of the old") => age(row) > 50.0 && row.sex == 1,
        _ => true,
    };
    let rows: Vec<&Row> = rows.iter().filter(is_used).collect();
    let by_region: Vec<Vec<&Row>> = (0..3)
        .map(|region| rows.iter().copied().filter(|row| row.region == Some(region)).collect())
        .collect();
    let by_sex = |rows: &[&Row]| -> Vec<Vec<f64>> {
        let own = |sex| rows.iter().copied().filter(|row| row.sex == sex).collect::<Vec<_>>();
        (0..2).map(|sex| of_rows(name, &own(sex))).collect()
    };
    match name {
        "mean by region and sex" => by_region.iter().flat_map(|rows| by_sex(rows)).collect(),
        "histogram of region by sex" => {
            let count =
                |sex: usize, rows: &[&Row]| rows.iter().filter(|row| row.sex == sex).count() as f64;
            (0..2)
                .flat_map(|sex| by_region.iter().map(move |rows| vec![count(sex, rows)]))
                .collect()
        }
        name if name.ends_with("by region") => {
            by_region.iter().map(|rows| of_rows(name, rows)).collect()
        }
        name if name.ends_with("by sex") => by_sex(&rows),
        _ => vec![of_rows(name, &rows)],
    }
}
