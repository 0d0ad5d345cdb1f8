//! Random plans of every kind, the same ones each time: for comparisons of ways to answer, in tests and in bench/methods.

use super::mechanisms::*;
use counterpoint::Release;
use counterpoint_testing::Random;

/// A plan, with what it is about.
pub(crate) struct Example {
    pub(crate) kind: &'static str,
    pub(crate) releases: Vec<Release>,
    pub(crate) delta: f64,
    pub(crate) tolerance: f64,
}

pub(crate) const KINDS: [&str; 22] = [
    "equal guarantees",
    "few guarantees",
    "some guarantees",
    "many guarantees",
    "laplace, one scale",
    "laplace, few scales",
    "laplace and responses",
    "laplace, many scales",
    "gaussian",
    "gaussian, small",
    "discrete gaussian, one",
    "discrete gaussian",
    "discrete gaussians",
    "geometric",
    "responses of buckets",
    "finite",
    "sampled gaussian",
    "sampled laplace",
    "staircase",
    "exponential",
    "zcdp",
    "mixed",
];

/// The example of a number: its kind is the number modulo that of kinds.
pub(crate) fn example(number: u64) -> Example {
    let random = &mut Random::new(0x6b69_6e64_0000 + number);
    let kind = KINDS[(number % KINDS.len() as u64) as usize];
    let releases = match kind {
        "mixed" => (0..random.between(2, 4))
            .flat_map(|_| {
                let one = KINDS[random.below(KINDS.len() as u64 - 1) as usize];
                releases(one, random).into_iter().take(2)
            })
            .collect(),
        kind => releases(kind, random),
    };
    let delta = random.log_uniform(1e-12, 1e-2);
    let tolerance = random.of(&[1e-6, 1e-6, 1e-6, 1e-4, 1e-9]);
    Example { kind, releases, delta, tolerance }
}

fn releases(kind: &str, random: &mut Random) -> Vec<Release> {
    let epsilon = |random: &mut Random| random.log_uniform(0.01, 1.0);
    let many = |number: u64, random: &mut Random, one: &dyn Fn(&mut Random) -> Release| {
        (0..number).map(|_| one(random)).collect::<Vec<_>>()
    };
    match kind {
        "equal guarantees" => {
            vec![times(random.log_whole(2, 1_000_000), approximate(epsilon(random), 0.0))]
        }
        "few guarantees" => {
            let count = random.log_whole(2, 1000);
            let number = random.between(2, 3);
            many(number, random, &|random| times(count, approximate(epsilon(random), 0.0)))
        }
        "some guarantees" => {
            let number = random.log_whole(4, 50);
            many(number, random, &|random| times(1, approximate(epsilon(random), 0.0)))
        }
        "many guarantees" => {
            let number = random.log_whole(50, 3000);
            many(number, random, &|random| {
                times(random.log_whole(1, 5), approximate(epsilon(random), 0.0))
            })
        }
        "laplace, one scale" => {
            vec![times(random.log_whole(1, 1_000_000), laplace(random.log_uniform(0.3, 3e3), 1.0))]
        }
        "laplace, few scales" => {
            let number = random.between(2, 6);
            many(number, random, &|random| {
                times(random.log_whole(1, 20), laplace(random.log_uniform(1.0, 100.0), 1.0))
            })
        }
        "laplace and responses" => {
            let number = random.between(1, 4);
            let mut list = many(number, random, &|random| {
                times(random.log_whole(1, 5), laplace(random.log_uniform(1.0, 50.0), 1.0))
            });
            list.push(times(random.between(1, 3), approximate(epsilon(random), 0.0)));
            list
        }
        "laplace, many scales" => {
            let number = random.log_whole(7, 1000);
            many(number, random, &|random| times(1, laplace(random.log_uniform(5.0, 100.0), 1.0)))
        }
        "gaussian" => {
            let number = random.between(1, 3);
            many(number, random, &|random| {
                times(random.log_whole(1, 1000), gaussian(random.log_uniform(0.7, 50.0), 1.0))
            })
        }
        "gaussian, small" => {
            vec![times(random.log_whole(1, 100), gaussian(random.log_uniform(2e5, 1e8), 1.0))]
        }
        "discrete gaussian, one" => {
            vec![times(1, discrete_gaussian(random.log_uniform(0.7, 200.0), random.between(1, 3)))]
        }
        "discrete gaussian" => {
            let sigma = random.log_uniform(0.7, 100.0);
            vec![times(random.log_whole(2, 1000), discrete_gaussian(sigma, random.between(1, 3)))]
        }
        "discrete gaussians" => {
            let number = random.between(2, 4);
            many(number, random, &|random| {
                times(random.log_whole(1, 50), discrete_gaussian(random.log_uniform(1.0, 60.0), 1))
            })
        }
        "geometric" => {
            let number = random.between(1, 3);
            many(number, random, &|random| {
                times(
                    random.log_whole(1, 200),
                    geometric(random.log_uniform(0.7, 30.0), random.between(1, 3)),
                )
            })
        }
        "responses of buckets" => {
            let number = random.between(1, 3);
            many(number, random, &|random| {
                times(random.log_whole(1, 300), response(epsilon(random), random.between(3, 9)))
            })
        }
        "finite" => {
            let number = random.between(1, 3);
            many(number, random, &|random| {
                let [a, b] = [random.uniform(0.1, 0.4), random.uniform(0.1, 0.4)];
                times(random.log_whole(1, 200), finite(&[a, b, 1.0 - a - b], &[b, 1.0 - a - b, a]))
            })
        }
        "sampled gaussian" => {
            let number = random.between(1, 2);
            many(number, random, &|random| {
                let count = random.log_whole(1, 20_000);
                sampled(
                    count,
                    gaussian(random.log_uniform(0.6, 5.0), 1.0),
                    random.log_uniform(1e-4, 0.2),
                )
            })
        }
        "sampled laplace" => {
            let count = random.log_whole(1, 2000);
            vec![sampled(
                count,
                laplace(random.log_uniform(0.5, 10.0), 1.0),
                random.log_uniform(1e-3, 0.3),
            )]
        }
        "staircase" => vec![times(random.log_whole(1, 200), staircase(epsilon(random), None))],
        "exponential" => {
            let number = random.between(1, 2);
            many(number, random, &|random| {
                times(random.log_whole(1, 100), exponential(epsilon(random)))
            })
        }
        "zcdp" => vec![times(random.log_whole(1, 100), zcdp(random.log_uniform(1e-5, 0.1)))],
        kind => panic!("no plan of {kind}"),
    }
}
