//! The constructions of proofs, run as programs. Composed maps are compared with plain sums over all responses and
//! transcripts, conversations with whole numbers, and draws with fractions by hand and by chi-square tests with fixed
//! seeds.

use crate::common::fractions;
use crate::common::pairs;
use crate::common::tree;
use crate::pair_maps::least_delta;

use counterpoint_numerics::fractions::{Ratio, nearest};
use counterpoint_papers::interactive::{DecomposeError, Simulator, SimulatorError, System, Turn};
use counterpoint_papers::pair::{
    ComposeError, ComposedMaps, Mechanism, Pair, Side, Stage, breach, compose, draw, events,
};
use counterpoint_testing::Random;
use fractions::{cases, ratio};
use pairs::random_pair;
use tree::{Tree, UNIT, random_ratio};

fn fraction(text: &str) -> Ratio {
    text.parse().unwrap()
}

fn coin(p: &str, q: &str) -> Pair {
    let (p, q) = (fraction(p), fraction(q));
    Pair::new(vec![p.clone(), Ratio::ONE - p], vec![q.clone(), Ratio::ONE - q]).unwrap()
}

/// Two coins, each with the guarantee of randomized response at ratio 3. The first coin is this response. For the
/// second, the response + becomes heads with probability (3 * 3/5 - 2/5)/2 = 7/10. The transcripts' probabilities are
/// 3/4 * 3/5 = 9/20, and so on.
#[test]
fn two_coins_by_hand() {
    let three = || fraction("3");
    let stage = |p, q| Stage::single(coin(p, q), three(), Ratio::ZERO);
    let composed = compose(vec![stage("3/4", "1/4"), stage("3/5", "2/5")]).unwrap();
    let transcripts = composed.transcripts().unwrap();
    assert_eq!(transcripts.outcomes, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    let hand = [["9/20", "1/10"], ["3/10", "3/20"], ["3/20", "3/10"], ["1/10", "9/20"]];
    let hand = hand.map(|both| both.map(fraction));
    assert_eq!(transcripts.pair.outcomes(), hand);
    let map = composed.map().unwrap();
    let row = |first: usize, second: usize| map.rows()[4 * first + second].clone();
    let fractions = |texts: [&str; 4]| texts.map(fraction).to_vec();
    assert_eq!(row(1, 1), fractions(["7/10", "3/10", "0", "0"]));
    assert_eq!(row(1, 2), fractions(["3/10", "7/10", "0", "0"]));
    assert_eq!(row(2, 1), fractions(["0", "0", "7/10", "3/10"]));
    assert_eq!(row(2, 2), fractions(["0", "0", "3/10", "7/10"]));
    assert!(map.carries(&composed.responses().unwrap(), &transcripts.pair) && composed.carries());
    // After + and +, a word below 7/10 of the range gives heads of the second coin, and a word above gives tails.
    let tenth = u64::MAX / 10;
    for (word, outcome) in [(0, 0), (6 * tenth, 0), (8 * tenth, 1), (u64::MAX, 1)] {
        assert_eq!(composed.sample(&[1, 1], &mut || word).unwrap(), [0, outcome]);
    }
}

/// The coin 3/4, 1/4 at ratio 2 and delta 1/4. Of heads' 3/4, twice 1/4 is kept. The rest is cut, and is the whole
/// leak.
#[test]
fn events_by_hand() {
    let pair = coin("3/4", "1/4");
    let found = events(&pair, &fraction("2"), &fraction("1/4")).unwrap();
    assert_eq!(found.excess, ["1/4", "1/4"].map(fraction));
    let kept: Vec<_> = found.outcomes.iter().map(|part| part.kept.clone()).collect();
    assert_eq!(kept, [["1/2", "1/4"].map(fraction), ["1/4", "1/2"].map(fraction)]);
    let sides: Vec<Side> = found.outcomes.iter().map(|part| part.side).collect();
    assert_eq!(sides, [Side::First, Side::Second]);
    assert_eq!(found.outcomes[0].chances(), [Some(fraction("2/3")), Some(Ratio::ONE)]);
    // If half of everything is cut, half of everything is kept, and no mass is above its bound.
    let loose = events(&pair, &fraction("3"), &fraction("1/2")).unwrap();
    assert_eq!(loose.outcomes[0].kept, ["3/8", "1/8"].map(fraction));
    assert!(loose.outcomes.iter().all(|part| part.side == Side::Between));
    // A delta one hundredth below 1/4 is refuted by heads.
    let refuted = breach(&pair, &fraction("2"), &fraction("99/400")).unwrap();
    assert_eq!((refuted.event.clone(), refuted.excess()), (vec![0], fraction("1/400")));
    assert!(events(&pair, &fraction("2"), &fraction("99/400")).is_err());
    assert!(refuted.refutes(&pair) && !refuted.refutes(&coin("1/4", "3/4")));
    assert_eq!(breach(&pair, &fraction("2"), &fraction("1/4")), None);
}

#[test]
fn events_keep_what_the_lemma_says() {
    let mut random = Random::new(0x4d56_3333);
    for case in 0..cases(5000) {
        let pair = random_pair(&mut random);
        let (up, down) = random_ratio(&mut random);
        let x = ratio(up, down);
        let least = least_delta(&pair, &x);
        if least == Ratio::ONE {
            continue;
        }
        let spare = if case % 2 == 0 { Ratio::ZERO } else { ratio(1, 5) };
        let delta = &least + (Ratio::ONE - &least) * spare;
        let mut found = events(&pair, &x, &delta).unwrap();
        assert!(found.are_valid_for(&pair));
        let mut sums = [Ratio::ZERO, Ratio::ZERO];
        for (part, masses) in found.outcomes.iter().zip(pair.outcomes()) {
            let [e, f] = &part.kept;
            assert!(*e <= &x * f && *f <= &x * e && *e <= masses[0] && *f <= masses[1]);
            assert!(*e >= Ratio::ZERO && *f >= Ratio::ZERO);
            assert_eq!(part.side == Side::First, masses[0] > &x * &masses[1]);
            assert_eq!(part.side == Side::Second, masses[1] > &x * &masses[0]);
            sums = [&sums[0] + e, &sums[1] + f];
        }
        assert_eq!(sums, [Ratio::ONE - &delta, Ratio::ONE - &delta]);
        assert_eq!(found.excess, [pair.delta(&x), pair.swapped().delta(&x)]);
        // With one per cent more than the kept mass, the conditions of the lemma fail.
        found.outcomes[0].kept[0] *= ratio(101, 100);
        assert!(!found.are_valid_for(&pair) || found.outcomes[0].kept[0] == Ratio::ZERO);
        if least > Ratio::ZERO {
            let less = &least * ratio(99, 100);
            let refuted = breach(&pair, &x, &less).unwrap();
            assert!(refuted.refutes(&pair) && refuted.excess() == &least - &less);
        }
    }
}

/// Up to three stages of up to two mechanisms. The delta of a stage is the least that all its mechanisms have, or a
/// larger one.
fn random_stages(random: &mut Random) -> Vec<Stage> {
    let sizes: &[usize] = random.of(&[&[1], &[1, 1], &[1, 2], &[1, 2, 2], &[1, 1, 2]]);
    let next = sizes.iter().skip(1).copied().chain([0]);
    let stage = |(&size, next): (&usize, usize)| {
        let mechanisms: Vec<Mechanism> = (0..size)
            .map(|_| {
                let pair = random_pair(random);
                let outcomes = if next == 0 { 0 } else { pair.outcomes().len() };
                let then = (0..outcomes).map(|_| random.below(next as u64) as usize).collect();
                Mechanism { pair, then }
            })
            .collect();
        let (up, down) = random_ratio(random);
        let x = ratio(up, down);
        let least = mechanisms.iter().map(|m| least_delta(&m.pair, &x)).max().unwrap();
        Stage { ratio: x, delta: least, mechanisms }
    };
    sizes.iter().zip(next).map(stage).collect()
}

/// All transcripts with their probabilities, by the definition of running the stages in order.
fn run(stages: &[Stage]) -> Vec<(Vec<usize>, [Ratio; 2])> {
    fn from(stages: &[Stage], which: usize) -> Vec<(Vec<usize>, [Ratio; 2])> {
        let Some((stage, rest)) = stages.split_first() else {
            return vec![(vec![], [Ratio::ONE, Ratio::ONE])];
        };
        let mechanism = &stage.mechanisms[which];
        let mut all = Vec::new();
        for (outcome, masses) in mechanism.pair.outcomes().iter().enumerate() {
            let next = mechanism.then.get(outcome).copied().unwrap_or(0);
            for (later, after) in from(rest, next) {
                let both = [&masses[0] * &after[0], &masses[1] * &after[1]];
                all.push(([vec![outcome], later].concat(), both));
            }
        }
        all
    }
    from(stages, 0)
}

/// Every list of responses, with its probabilities, by the definition of independence.
fn responses(stages: &[Stage]) -> Vec<(Vec<usize>, [Ratio; 2])> {
    let one = vec![(vec![], [Ratio::ONE, Ratio::ONE])];
    stages.iter().fold(one, |all, stage| {
        let share = (Ratio::ONE - &stage.delta) / (Ratio::ONE + &stage.ratio);
        let (zero, large) = (Ratio::ZERO, &stage.ratio * &share);
        let rows = [
            [stage.delta.clone(), zero.clone()],
            [large.clone(), share.clone()],
            [share, large],
            [zero, stage.delta.clone()],
        ];
        let with = |(list, masses): &(Vec<usize>, [Ratio; 2])| {
            let each = rows.iter().enumerate().map(|(z, row)| {
                let both = [&masses[0] * &row[0], &masses[1] * &row[1]];
                ([list.clone(), vec![z]].concat(), both)
            });
            each.collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}

#[test]
fn composed_maps_make_adaptive_compositions_of_responses() {
    let mut random = Random::new(0x4d56_3335);
    let (mut done, mut refused) = (0, 0);
    while done < cases(1000) || refused < cases(300) {
        let mut stages = random_stages(&mut random);
        if stages.iter().any(|stage| stage.delta == Ratio::ONE) {
            continue;
        }
        let composed = compose(stages.clone()).unwrap();
        let (inputs, runs) = (responses(&stages), run(&stages));
        let map = composed.map().unwrap();
        assert_eq!(map.rows().len(), inputs.len());
        let mut image = vec![[Ratio::ZERO, Ratio::ZERO]; runs.len()];
        for (row, (_, masses)) in map.rows().iter().zip(&inputs) {
            assert_eq!(row.iter().fold(Ratio::ZERO, |sum, x| sum + x), Ratio::ONE);
            for (sum, entry) in image.iter_mut().zip(row) {
                assert!(*entry >= Ratio::ZERO);
                *sum = [&sum[0] + &masses[0] * entry, &sum[1] + &masses[1] * entry];
            }
        }
        let law: Vec<_> = runs.iter().map(|(_, masses)| masses.clone()).collect();
        assert_eq!(image, law);
        let transcripts = composed.transcripts().unwrap();
        assert!(transcripts.outcomes.iter().eq(runs.iter().map(|(outcomes, _)| outcomes)));
        assert_eq!(transcripts.pair.outcomes(), law);
        assert_eq!(composed.count(), law.len() as u128);
        assert!(map.carries(&composed.responses().unwrap(), &transcripts.pair));
        assert!(composed.carries());
        // The theorem's claim: the whole composition is as private as the responses together.
        let x = ratio(3, 2);
        let together = composed.responses().unwrap();
        assert!(transcripts.pair.delta(&x) <= together.delta(&x));
        done += 1;
        // A delta one per cent lower at one stage is refuted by an event.
        let at = random.below(stages.len() as u64) as usize;
        if stages[at].delta > Ratio::ZERO {
            stages[at].delta *= ratio(99, 100);
            let ComposeError::Refuted { stage, mechanism, breach } =
                compose(stages.clone()).unwrap_err()
            else {
                panic!("no event")
            };
            assert_eq!(stage, at);
            let pair = &stages[stage].mechanisms[mechanism].pair;
            let sum = |side: usize| {
                let chosen = breach.event.iter().map(|&at| &pair.outcomes()[at][side]);
                chosen.fold(Ratio::ZERO, |sum, mass| sum + mass)
            };
            let (large, small) = (sum(breach.side), sum(1 - breach.side));
            assert!(large > &stages[at].ratio * small + &stages[at].delta);
            assert!(breach.refutes(pair));
            refused += 1;
        }
    }
}

#[test]
fn stages_that_lead_nowhere_are_refused() {
    let stage = |then: &[usize], mechanisms: usize| Stage {
        ratio: fraction("3"),
        delta: Ratio::ZERO,
        mechanisms: vec![Mechanism { pair: coin("3/4", "1/4"), then: then.to_vec() }; mechanisms],
    };
    let last = |mechanisms| stage(&[], mechanisms);
    assert!(compose(vec![stage(&[0, 1], 1), last(2)]).is_ok());
    let wrong = [
        (vec![], "stages number 0; legal: 1 to 1000"),
        (vec![last(2)], "stage 1: mechanisms number 2; legal: 1"),
        (vec![last(1), last(2)], "stage 1: entries of then number 0; legal: 2"),
        (vec![stage(&[0], 1), last(1)], "stage 1: entries of then number 1; legal: 2"),
        (
            vec![stage(&[0, 2], 1), last(2)],
            "stage 1: the next mechanism is number 2; legal: 0 to 1",
        ),
        (vec![stage(&[0, 0], 1)], "stage 1: entries of then number 2; legal: 0"),
        (vec![last(1), last(0)], "stage 2: mechanisms number 0; legal: 1 to 250000"),
    ];
    for (stages, message) in wrong {
        assert_eq!(compose(stages).unwrap_err().to_string(), message);
    }
    for (x, delta) in [("99/100", "0"), ("3", "1"), ("3", "-1/2")] {
        let stage = Stage::single(coin("1/2", "1/2"), fraction(x), fraction(delta));
        assert!(compose(vec![stage]).unwrap_err().to_string().starts_with("stage 1: "));
    }
    let one = compose(vec![last(1)]).unwrap();
    assert!(one.sample(&[4], &mut || 0).is_err() && one.sample(&[], &mut || 0).is_err());
    // Forty coins have too many transcripts for a map, but they can be sampled.
    let many = compose(vec![last(1); 40]).unwrap();
    assert_eq!(many.count(), 1 << 40);
    assert!(many.carries() && many.map().is_err() && many.transcripts().is_err());
    assert_eq!(many.sample(&[1; 40], &mut || 7).unwrap(), [0; 40]);
}

#[test]
fn draws_fall_where_their_words_are() {
    let row = ["0", "1/4", "0", "1/2", "1/4", "0"].map(fraction);
    let quarter = 1_u64 << 62;
    let words = [
        (0, 1),
        (quarter - 1, 1),
        (quarter, 3),
        (3 * quarter - 1, 3),
        (3 * quarter, 4),
        (u64::MAX, 4),
    ];
    for (word, place) in words {
        assert_eq!(draw(&row, &mut || word), place, "{word}");
    }
    // A third is 0.0101... in binary. A first word with these bits does not decide, and the next word does.
    let third = ["1/3", "2/3"].map(fraction);
    let open = u64::MAX / 3;
    for (words, place) in [([open - 1, 0], 0), ([open, open - 1], 0), ([open, open + 1], 1)] {
        let mut words = words.into_iter();
        assert_eq!(draw(&third, &mut || words.next().unwrap()), place);
    }
    // Words that never decide: the draw ends all the same.
    let mut count = 0;
    draw(&third, &mut || {
        count += 1;
        open
    });
    assert_eq!(count, 64);
}

/// Pearson's statistic of counts for a law, and its degrees of freedom: the number of outcomes minus one.
fn chi_square(counts: &[u64], law: &[f64]) -> (f64, f64) {
    let total = counts.iter().sum::<u64>() as f64;
    let mut sum = 0.0;
    for (&count, &p) in counts.iter().zip(law) {
        if p <= 0.0 {
            assert_eq!(count, 0, "what never happens happened");
        } else {
            sum += (count as f64 - total * p).powi(2) / (total * p);
        }
    }
    (sum, law.iter().filter(|&&p| p > 0.0).count() as f64 - 1.0)
}

/// True if the statistic is within five standard deviations of its mean.
fn fits(counts: &[u64], law: &[f64]) -> bool {
    let (sum, free) = chi_square(counts, law);
    sum <= free + 5.0 * (2.0 * free).sqrt()
}

fn sampled(composed: &ComposedMaps, b: usize, samples: usize, random: &mut Random) -> Vec<u64> {
    let transcripts = composed.transcripts().unwrap();
    let mut counts = vec![0; transcripts.outcomes.len()];
    let rows: Vec<Vec<Ratio>> = composed.stages().iter().map(|s| side(s, b)).collect();
    for _ in 0..samples {
        let mut words = || random.bits();
        let z: Vec<usize> = rows.iter().map(|row| draw(row, &mut words)).collect();
        let found = composed.sample(&z, &mut words).unwrap();
        counts[transcripts.outcomes.binary_search(&found).unwrap()] += 1;
    }
    counts
}

fn side(stage: &Stage, b: usize) -> Vec<Ratio> {
    let response = Pair::response(&stage.ratio, &stage.delta).unwrap();
    response.outcomes().iter().map(|mass| mass[b].clone()).collect()
}

/// Forty thousand transcripts on each data set fit the law on this data set. They do not fit the law on the other one,
/// nor a law whose first transcript is a tenth more likely.
#[test]
fn sampled_transcripts_have_the_law_of_each_data_set() {
    let mut random = Random::new(0x5361_6d70);
    let pair = |p: [&str; 3], q: [&str; 3]| {
        Pair::new(p.map(fraction).to_vec(), q.map(fraction).to_vec()).unwrap()
    };
    let first = Mechanism {
        pair: pair(["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]),
        then: vec![0, 1, 1],
    };
    let last = [coin("7/10", "2/5"), coin("1/10", "3/10")];
    let last = last.map(|pair| Mechanism { pair, then: vec![] }).to_vec();
    let composed = compose(vec![
        Stage { ratio: fraction("2"), delta: fraction("1/8"), mechanisms: vec![first] },
        Stage { ratio: fraction("3/2"), delta: fraction("1/5"), mechanisms: last },
    ])
    .unwrap();
    let law = |b: usize| -> Vec<f64> {
        let runs = run(composed.stages());
        runs.iter().map(|(_, masses)| nearest(&masses[b])).collect()
    };
    for b in [0, 1] {
        let counts = sampled(&composed, b, 40_000, &mut random);
        assert!(fits(&counts, &law(b)), "{counts:?}");
        assert!(!fits(&counts, &law(1 - b)));
        let mut off = law(b);
        off[0] *= 1.1;
        off[1] -= off[0] - law(b)[0];
        assert!(!fits(&counts, &off), "{:?}", chi_square(&counts, &off));
    }
}

/// A deterministic adversary, chosen by a number: it picks a system and a query by the turns so far.
fn asker(number: u64) -> impl FnMut(&[Turn], &[usize]) -> Option<(usize, usize)> {
    move |turns, open| {
        let all: Vec<(usize, usize)> = open
            .iter()
            .enumerate()
            .flat_map(|(system, &queries)| (0..queries).map(move |query| (system, query)))
            .collect();
        let mix = |seed: u64, turn: &Turn| {
            let code = turn.system as u64 * 100 + turn.query as u64 * 10 + turn.answer as u64;
            Random::new(seed ^ code).bits()
        };
        let hash = turns.iter().fold(number, mix);
        (!all.is_empty()).then(|| all[(hash % all.len() as u64) as usize])
    }
}

/// The probability of a transcript's answers, from the trees' whole numbers in sixtieths, system by system.
fn real(trees: &[Tree], turns: &[Turn]) -> [Ratio; 2] {
    let mut at: Vec<&Tree> = trees.iter().collect();
    let mut law = [Ratio::ONE, Ratio::ONE];
    for turn in turns {
        let (masses, then) = &at[turn.system].0[turn.query][turn.answer];
        law = [&law[0] * ratio(masses[0], UNIT), &law[1] * ratio(masses[1], UNIT)];
        at[turn.system] = then;
    }
    law
}

/// Systems whose bits cannot be distinguished with certainty, each with a guarantee that it has.
type Claims = Vec<(System, (Ratio, Ratio))>;

fn random_claims(random: &mut Random, rounds: &[usize]) -> Option<(Vec<Tree>, Claims)> {
    let trees: Vec<Tree> = rounds.iter().map(|&r| Tree::random(random, r, 2)).collect();
    let claim = |tree: &Tree, random: &mut Random| {
        let (up, down) = random_ratio(random);
        let (system, x) = (tree.system(), ratio(up, down));
        let least = system.delta(&x);
        let spare = if random.once_in(2) { Ratio::ZERO } else { ratio(1, 4) };
        let delta = &least + (Ratio::ONE - &least) * spare;
        (delta < Ratio::ONE).then_some((system, (x, delta)))
    };
    let claims: Option<Claims> = trees.iter().map(|tree| claim(tree, random)).collect();
    Some((trees, claims?))
}

/// The probability of a transcript given all responses: the product of its answers' chances in a conversation whose
/// draws are made to follow the transcript.
fn conditional(simulator: &Simulator, z: &[usize], turns: &[Turn]) -> Ratio {
    let mut talk = simulator.begin(z).unwrap();
    let mut product = Ratio::ONE;
    for turn in turns {
        let chances = talk.chances(turn.system, turn.query).unwrap();
        let chance = &chances[turn.answer];
        if *chance == Ratio::ZERO {
            return Ratio::ZERO;
        }
        let before = chances[..turn.answer].iter().fold(Ratio::ZERO, |sum, x| sum + x);
        let middle = (before + chance / Ratio::from(2)) * Ratio::from(1_u128 << 64);
        let word = u64::try_from(middle.raw().floor()).unwrap();
        assert_eq!(talk.ask(turn.system, turn.query, &mut || word), Some(turn.answer));
        product *= chance;
    }
    assert_eq!(talk.turns(), turns);
    product
}

#[test]
fn conversations_have_the_systems_laws_however_they_are_interleaved() {
    let mut random = Random::new(0x4c79_7546);
    let (mut done, mut compared) = (0, 0);
    while done < cases(300) {
        let rounds: &[usize] = random.of(&[&[2], &[2, 1], &[1, 1], &[2, 2], &[1, 1, 1]]);
        let Some((trees, claims)) = random_claims(&mut random, rounds) else { continue };
        let simulator = Simulator::new(claims.clone()).unwrap();
        assert!(simulator.reproduces());
        let histories = simulator.histories_agree().unwrap().unwrap();
        assert!(histories >= 1);
        let stages: Vec<Stage> = claims
            .iter()
            .map(|(_, (x, d))| Stage { ratio: x.clone(), delta: d.clone(), mechanisms: vec![] })
            .collect();
        let inputs = responses(&stages);
        for _ in 0..2 {
            let law = simulator.law(&mut asker(random.bits())).unwrap();
            let mut totals = [Ratio::ZERO, Ratio::ZERO];
            for said in &law {
                assert_eq!(said.real, real(&trees, &said.turns));
                let mut sums = [Ratio::ZERO, Ratio::ZERO];
                for (z, masses) in &inputs {
                    let chance = conditional(&simulator, z, &said.turns);
                    sums = [&sums[0] + &masses[0] * &chance, &sums[1] + &masses[1] * &chance];
                }
                assert_eq!(sums, said.real);
                assert_eq!(sums, said.simulated);
                totals = [&totals[0] + &sums[0], &totals[1] + &sums[1]];
                compared += 1;
            }
            assert_eq!(totals, [Ratio::ONE, Ratio::ONE]);
        }
        done += 1;
    }
    assert!(compared > 2 * done);
}

#[test]
fn systems_that_are_told_apart_have_no_simulator() {
    let mut random = Random::new(0x5265_6675);
    let mut refused = 0;
    while refused < cases(300) {
        let Some((_, mut claims)) = random_claims(&mut random, &[2, 1]) else { continue };
        let (system, (x, delta)) = &mut claims[1];
        let least = system.delta(x);
        if least == Ratio::ZERO {
            continue;
        }
        *delta = &least * ratio(99, 100);
        let (system, x, claimed) = (system.clone(), x.clone(), delta.clone());
        let error = Simulator::new(claims).unwrap_err();
        let SimulatorError::System {
            system: 1,
            error: DecomposeError::Distinguishable { bit, attack, .. },
        } = error
        else {
            panic!("{error}")
        };
        // The adversary distinguishes the bits as well as reported, and better than claimed.
        let side = if bit == 0 { system } else { system.swapped() };
        let seen = side.pair(&attack.adversary).unwrap().delta(&x);
        assert!(seen == attack.delta && claimed < seen && seen <= least);
        refused += 1;
    }
    assert!(Simulator::new(vec![]).is_err());
    let pair = coin("3/4", "1/4");
    let claim = (fraction("3"), Ratio::ZERO);
    let simulator = Simulator::new(vec![(System::from(&pair), claim)]).unwrap();
    assert!(simulator.begin(&[]).is_err() && simulator.begin(&[4]).is_err());
    let mut talk = simulator.begin(&[1]).unwrap();
    assert_eq!(
        (talk.open(), talk.ask(1, 0, &mut || 0), talk.ask(0, 1, &mut || 0)),
        (vec![1], None, None)
    );
    assert_eq!((talk.ask(0, 0, &mut || 0), talk.open()), (Some(0), vec![0]));
    assert_eq!(talk.ask(0, 0, &mut || 0), None);
}

/// Two systems of two rounds and one round, interleaved by an adversary. Conversations after responses that were drawn
/// for one of the bits fit the law under this bit, and not the law under the other.
#[test]
fn sampled_conversations_have_the_law_of_each_bit() {
    let mut random = Random::new(0x436f_6e76);
    let answers = |a: u64, b: u64, then: &Tree| {
        vec![([a, b], then.clone()), ([60 - a, 60 - b], then.clone())]
    };
    let last = Tree(vec![answers(40, 20, &Tree::default()), answers(10, 20, &Tree::default())]);
    let first = Tree(vec![answers(35, 20, &last)]);
    let trees = vec![first, last];
    let x = fraction("5/4");
    let claims: Claims =
        trees.iter().map(|tree| (tree.system(), (x.clone(), tree.system().delta(&x)))).collect();
    let simulator = Simulator::new(claims.clone()).unwrap();
    let law = simulator.law(&mut asker(3)).unwrap();
    let rows = simulator.responses().unwrap();
    for b in [0, 1] {
        let mut counts = vec![0; law.len()];
        for _ in 0..10_000 {
            let mut words = || random.bits();
            let side = |pair: &Pair| -> Vec<Ratio> {
                pair.outcomes().iter().map(|mass| mass[b].clone()).collect()
            };
            let z: Vec<usize> = rows.iter().map(|pair| draw(&side(pair), &mut words)).collect();
            let mut talk = simulator.begin(&z).unwrap();
            let mut ask = asker(3);
            while let Some((system, query)) = ask(talk.turns(), &talk.open()) {
                talk.ask(system, query, &mut words).unwrap();
            }
            let at = law.iter().position(|said| said.turns == talk.turns()).unwrap();
            counts[at] += 1;
        }
        let masses = |b: usize| -> Vec<f64> {
            law.iter().map(|said| nearest(&real(&trees, &said.turns)[b])).collect()
        };
        assert!(fits(&counts, &masses(b)), "{counts:?}");
        assert!(!fits(&counts, &masses(1 - b)));
    }
}
