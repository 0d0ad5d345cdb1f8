//! Neighbouring files: whatever one person's rows hold, the numbers that noise is added to move by no more than the account of the
//! release is charged for, all statistics and all groups of them together.

use crate::surveys::{cases, spend, study};
use counterpoint::{Mechanism, Release};
use counterpoint_curator::{OpenTable, RowSource, Spend, Tabulation, TallySpec};
use counterpoint_mechanisms::{Gaps, Measurement};
use counterpoint_studies::{StudyFile, StudyQuestion, read_study_file};
use counterpoint_testing::{Random, tries};
use counterpoint_wire::Format;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is given away, or charged: an epsilon of pure noise, and a rho of Gaussian.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    pure: f64,
    rho: f64,
}

impl Loss {
    fn plus(self, other: Self) -> Self {
        Self { pure: self.pure + other.pure, rho: self.rho + other.rho }
    }

    /// The larger share of what is charged.
    fn share_of(self, charged: Self) -> f64 {
        let share = |loss: f64, charged: f64| if loss > 0.0 { loss / charged } else { 0.0 };
        share(self.pure, charged.pure).max(share(self.rho, charged.rho))
    }
}

/// What noise with this law gives away of a number that moves so far, both in the same units; the sensitivity that it was declared
/// with is not looked at.
fn moved(noise: &Mechanism, far: f64) -> Loss {
    let normal = |sigma: f64| Loss { pure: 0.0, rho: 0.5 * (far / sigma).powi(2) };
    match noise {
        Mechanism::Geometric { scale, .. } => Loss { pure: far / scale.get(), rho: 0.0 },
        Mechanism::Laplace { scale, .. } => Loss { pure: far / scale.get(), rho: 0.0 },
        Mechanism::DiscreteGaussian { sigma, .. } => normal(sigma.get()),
        Mechanism::Gaussian { sigma, .. } => normal(sigma.get()),
        other => panic!("{other:?}"),
    }
}

/// What the ledger composes.
fn charged(release: &Release) -> Loss {
    let one = match &release.mechanism {
        Mechanism::Geometric { sensitivity, .. } => {
            moved(&release.mechanism, sensitivity.get() as f64)
        }
        Mechanism::Laplace { sensitivity, .. } => moved(&release.mechanism, sensitivity.get()),
        Mechanism::DiscreteGaussian { sensitivity, .. } => {
            moved(&release.mechanism, sensitivity.get() as f64)
        }
        Mechanism::Gaussian { sensitivity, .. } => moved(&release.mechanism, sensitivity.get()),
        Mechanism::ApproxDp(guarantee) => {
            assert!(guarantee.delta.get() <= 0.0);
            Loss { pure: guarantee.epsilon.get(), rho: 0.0 }
        }
        Mechanism::Zcdp { rho, .. } => Loss { pure: 0.0, rho: rho.get() },
        // Quantiles are compared by their tallies.
        Mechanism::Exponential { .. } => Loss::default(),
        other => panic!("{other:?}"),
    };
    let count = release.count.get() as f64;
    Loss { pure: one.pure * count, rho: one.rho * count }
}

/// A statistic of a study: what is counted, what noise is added, and what its slot has to be charged as, or more.
struct Slot {
    name: String,
    tabulation: Tabulation,
    counted: Measurement,
    noisy: Measurement,
    charged: Loss,
    /// The rows of one person that are used.
    rows: u64,
}

/// The statistics of a study, with noise that costs so much; with another study's contributions or bounds where rows are counted, if
/// somebody got them wrong.
fn slots(study: &StudyFile, wrong: Option<&StudyFile>, spend: Spend) -> Vec<Slot> {
    let counted = wrong.unwrap_or(study);
    let names = study.study.statistics().iter().map(|statistic| &statistic.name);
    let one =
        |((name, own), other): ((&String, &Option<StudyQuestion>), &Option<StudyQuestion>)| {
            let [own, other] = [own, other].map(|question| &question.as_ref().unwrap().checked);
            let noisy = own.measurements(spend).unwrap().remove(0);
            // Of the same noise, whatever is counted.
            let style = Spend::Style(noisy.noisy_query().style());
            let counted = other.measurements(style).unwrap().remove(0);
            let wanted = [TallySpec::of(&counted).unwrap()];
            Slot {
                name: name.clone(),
                tabulation: Tabulation::new(other, &wanted).unwrap(),
                charged: noisy.releases().iter().map(charged).fold(Loss::default(), Loss::plus),
                counted,
                noisy,
                rows: own.contribution_limits().0,
            }
        };
    names.zip(&study.questions).zip(&counted.questions).map(one).collect()
}

/// For each statistic, and each of its groups, the numbers that are tallied.
type Tallies = Vec<Vec<Vec<i128>>>;

fn tallies(study: &StudyFile, slots: &[Slot], file: &Path, text: &str) -> Tallies {
    std::fs::write(file, text).unwrap();
    let table = study.data.as_ref().unwrap().table.clone();
    let held = OpenTable::of_rows(table, RowSource::of_file(file).unwrap(), [7; 32]).unwrap();
    let all: Vec<&Tabulation> = slots.iter().map(|slot| &slot.tabulation).collect();
    let counted = held.count(&all, Instant::now() + Duration::from_secs(300)).unwrap();
    let groups = |groups: Vec<counterpoint_curator::RawGroup>| {
        groups.into_iter().map(|mut group| group.numbers.remove(0)).collect()
    };
    counted.into_iter().map(groups).collect()
}

/// The sums that a tree of counts releases: node i is of so many gaps up to i as the lowest bit of i says.
fn nodes(gaps: &[i128]) -> Vec<i128> {
    let node = |i: usize| gaps[i - (i & i.wrapping_neg())..i].iter().sum();
    (1..=gaps.len()).map(node).collect()
}

/// What the noise on a statistic gives away between two files.
fn loss(slot: &Slot, one: &[Vec<i128>], other: &[Vec<i128>]) -> Loss {
    let noises = slot.noisy.noises();
    let summands = slot.counted.summands();
    let is_tree = matches!(slot.noisy.places(), Some((_, Gaps::Below)));
    let mut sum = Loss::default();
    for (one, other) in one.iter().zip(other) {
        let (one, other) =
            if is_tree { (nodes(one), nodes(other)) } else { (one.clone(), other.clone()) };
        for (place, (one, other)) in one.iter().zip(&other).enumerate() {
            let noise = noises[place.min(noises.len() - 1)];
            let step = noise.grid().step();
            let far = match summands.get(place) {
                // Rounded to a step of the grid, halves upward.
                Some(summand) => {
                    let whole = (step / summand.unit()).round() as i128;
                    let steps = |units: i128| (units + whole / 2).div_euclid(whole);
                    (steps(*one) - steps(*other)).abs() as f64
                }
                None => (one - other).abs() as f64,
            };
            sum = sum.plus(moved(&noise.mechanism(), far));
        }
    }
    sum
}

const NUMBERS: [&str; 18] = [
    "",
    "NaN",
    "abc",
    "1e308",
    "-1e308",
    "inf",
    "-inf",
    "0",
    "-0",
    "1000",
    "1000.0000001",
    "500",
    " 20 ",
    "95",
    "47.5",
    "-5",
    "9223372036854775807",
    "\"1\n2\"",
];
const TEXTS: [&str; 7] = ["north", "east", "south", "", "west", "NORTH", " north"];
const SEXES: [&str; 4] = ["f", "m", "", "x"];

/// A row of somebody.
fn row(random: &mut Random, person: &str) -> String {
    let number = |random: &mut Random| match random.below(3) {
        0 => format!("{}", random.unit() * 1_100.0 - 50.0),
        _ => random.of(&NUMBERS).to_owned(),
    };
    let (income, age) = (number(random), number(random));
    format!("{person},{income},{age},{},{}\n", random.of(&TEXTS), random.of(&SEXES))
}

/// The rows of somebody who has up to so many: all alike, or not, in any groups.
fn rows(random: &mut Random, person: &str, most: u64) -> Vec<String> {
    let (first, is_alike) = (row(random, person), random.below(3) == 0);
    let many = random.below(most + 1);
    (0..many).map(|_| if is_alike { first.clone() } else { row(random, person) }).collect()
}

fn file(random: &mut Random, mut rows: Vec<String>) -> String {
    for place in 1..rows.len() {
        rows.swap(place, random.below(place as u64 + 1) as usize);
    }
    let mut text = "nr,income,age,region,sex\n".to_owned();
    rows.iter().for_each(|row| text.write_str(row).unwrap());
    text
}

/// Two files that differ by one person, or by rows of nobody.
fn neighbours(random: &mut Random, is_replaced: bool, has_person: bool) -> [String; 2] {
    let mut shared: Vec<String> = Vec::new();
    for person in 0..random.below(6) {
        let most = if has_person { 5 } else { 1 };
        shared.extend(rows(random, &person.to_string(), most));
    }
    let nobody = if has_person { rows(random, "", 3) } else { Vec::new() };
    let own = |random: &mut Random, name: &str| match has_person {
        true => rows(random, name, 9),
        false => vec![row(random, name)],
    };
    let first = own(random, "p");
    // Somebody else, whatever they are called.
    let name = random.of(&["p", "q", "-1"]);
    let second = if is_replaced { own(random, name) } else { Vec::new() };
    let [one, mut other] = [first, second].map(|own| [shared.clone(), own].concat());
    other.extend(nobody);
    let files = [one, other].map(|rows| file(random, rows));
    if random.below(2) == 0 {
        files
    } else {
        let [one, other] = files;
        [other, one]
    }
}

/// For each statistic the largest share of its charge that it gives away in so many pairs.
fn search(
    (adjacency, person, is_pure): (&str, bool, bool),
    pairs: u64,
    wrong: Option<&StudyFile>,
    study: &StudyFile,
) -> Vec<(f64, String)> {
    let folder = tempfile::tempdir().unwrap();
    let slots = slots(study, wrong, spend(is_pure));
    let mut random = Random::new(2_718);
    let mut most: Vec<(f64, String)> = slots.iter().map(|slot| (0.0, slot.name.clone())).collect();
    let is_replaced = adjacency == "replace";
    for _ in 0..pairs {
        let files = neighbours(&mut random, is_replaced, person);
        let path = folder.path().join("rows.csv");
        let counted = wrong.unwrap_or(study);
        let [one, other] = files.each_ref().map(|text| tallies(counted, &slots, &path, text));
        for (((slot, one), other), most) in slots.iter().zip(&one).zip(&other).zip(&mut most) {
            let share = if slot.noisy.noises().is_empty() {
                // Of a choice the rows that move count: what they cost is between mechanisms and their tallies alone.
                let pairs = one.iter().flatten().zip(other.iter().flatten());
                let moved: i128 = pairs.map(|(one, other)| (one - other).abs()).sum();
                let rows = slot.rows * if is_replaced { 2 } else { 1 };
                moved as f64 / rows as f64
            } else {
                loss(slot, one, other).share_of(slot.charged)
            };
            most.0 = most.0.max(share);
        }
    }
    most
}

/// Ten thousand pairs of neighbouring files at full size.
#[test]
fn neighbouring_files_move_no_more_than_is_charged() {
    for case in cases() {
        let most = search(case, tries(1_300, 0.04), None, &study(case.0, case.1));
        assert!(most.iter().all(|(share, _)| *share <= 1.0 + 1e-12), "{case:?}: {most:?}");
        // What is charged can be reached, or nearly: nobody pays in vain.
        let is_near = |(share, _): &&(f64, String)| *share > 0.6;
        assert!(most.iter().filter(is_near).count() > most.len() / 2, "{case:?}: {most:?}");
    }
}

/// One row more of each person than is charged for, or bounds that are one hundredth wider than what is charged, are found out.
#[test]
fn rows_and_bounds_that_are_not_charged_are_seen() {
    for case in cases().filter(|(_, person, _)| *person) {
        let text = crate::surveys::text(case.0, true);
        let read = |text: &str| read_study_file(text.as_bytes(), Format::Toml).unwrap();
        let (study, pairs) = (read(&text), tries(400, 0.25));
        let more_rows = read(&text.replace("rows = 3", "rows = 4"));
        let found = search(case, pairs, Some(&more_rows), &study);
        for kind in ["count", "sum", "histogram", "cdf", "quantiles"] {
            let own = found.iter().filter(|(_, name)| name.starts_with(kind));
            assert!(own.clone().any(|(share, _)| *share > 1.05), "{case:?} {kind}: {found:?}");
        }
        let wide = read(&text.replace("[0, 1000]", "[0, 1010]"));
        let found = search(case, pairs, Some(&wide), &study);
        let is_seen = |(share, name): &(f64, String)| *share > 1.005 && name == "sum";
        assert!(found.iter().any(is_seen), "{case:?}: {found:?}");
    }
}
