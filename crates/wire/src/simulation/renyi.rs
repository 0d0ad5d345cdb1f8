//! The Rényi side of systems: the largest divergence over all adversaries, its sum over interleavings (L Theorem 2), and the budget
//! monitor of the proof along a transcript.

use counterpoint::Bracket;
use counterpoint::quantity::Order;
use counterpoint_papers::interactive::{Adversary, Monitor, Step, System, Turn, concurrent};

use super::file::{FileSystem, Simulation, Subject};
use super::found::{Divergence, Divergences, Left, NotSimulated, input};
use super::systems::asked;
use crate::text::error::PlanError;

/// Up to so many states the composed system is searched, as a check of the sum.
const SEARCHED: usize = 20_000;
/// The largest whole order at which the monitor runs.
const MOST_MONITORED: f64 = 64.0;
/// The most of an adversary's queries that are told.
const TOLD: usize = 64;

impl Divergences {
    /// Of a simulation's systems.
    ///
    /// # Errors
    /// [`NotSimulated::Input`] if it is not of systems, or the order is not legal.
    pub fn new(simulation: &Simulation, order: f64) -> Result<Self, NotSimulated> {
        let Subject::Systems(file) = &simulation.of else {
            let problem = "is for systems; legal: a file with [[system]] tables";
            return Err(NotSimulated::Input(PlanError::field("order", problem.to_owned())));
        };
        let systems: Vec<System> =
            file.iter().map(|own| own.system().map_err(input)).collect::<Result<_, _>>()?;
        let checked = Order::new(order).map_err(input)?;
        let both = |system: &System| -> Result<([Bracket; 2], Adversary), NotSimulated> {
            let attack = system.renyi_attack(checked).map_err(input)?;
            let other = system.swapped().renyi_attack(checked).map_err(input)?;
            Ok(([attack.divergence, other.divergence], attack.adversary))
        };
        let mut each = Vec::new();
        for (own, system) in std::iter::zip(file, &systems) {
            let (largest, adversary) = both(system)?;
            let asks = queries(own, system, &adversary);
            each.push((Divergence { name: own.name.clone(), largest, asks }, adversary));
        }
        let sums = [0, 1].map(|side| {
            each.iter().map(|(own, _)| own.largest[side]).fold(Bracket::exact(0.0), sum)
        });
        let searched = match concurrent(&systems) {
            Ok(all) if all.size() <= SEARCHED => Some(both(&all)?.0),
            _ => None,
        };
        let left = monitored(file, &systems, &each, order).unwrap_or_default();
        let systems = each.into_iter().map(|(own, _)| own).collect();
        Ok(Self { order, systems, sums, searched, left })
    }
}

/// A sum that holds both, rounded outwards.
fn sum(a: Bracket, b: Bracket) -> Bracket {
    let (lower, upper) = (a.lower + b.lower, a.upper + b.upper);
    Bracket { lower: lower.next_down().max(0.0), upper: upper.next_up() }
}

/// What an adversary asks, and after what.
fn queries(own: &FileSystem, system: &System, adversary: &Adversary) -> Vec<(Vec<String>, String)> {
    let (mut asks, mut open) = (Vec::new(), vec![Vec::<Turn>::new()]);
    while let Some(turns) = open.pop() {
        let Some((query, count)) = next(own, system, adversary, &turns) else { continue };
        if asks.len() == TOLD {
            break;
        }
        let name = own.query(&turns, query).map_or(String::new(), |query| query.name.clone());
        asks.push((words(own, &turns), name));
        open.extend((0..count).rev().map(|answer| with(&turns, Turn { system: 0, query, answer })));
    }
    asks
}

fn with(turns: &[Turn], turn: Turn) -> Vec<Turn> {
    turns.iter().copied().chain([turn]).collect()
}

fn words(own: &FileSystem, turns: &[Turn]) -> Vec<String> {
    let (said, _) = asked(std::slice::from_ref(own), turns);
    said.iter().map(|said| said.words(false)).collect()
}

/// What is asked after what was said, and how many answers there are; `None` where it is over.
fn next(
    own: &FileSystem,
    system: &System,
    adversary: &Adversary,
    turns: &[Turn],
) -> Option<(usize, usize)> {
    let history: Vec<Step> =
        turns.iter().map(|turn| Step { query: turn.query, answer: turn.answer }).collect();
    let query = system.next_query(adversary, &history)?;
    Some((query, own.query(turns, query)?.answers.len()))
}

/// The monitor along the likeliest answers under p to the best adversaries, one system after the other; `None` where it does not run.
fn monitored(
    file: &[FileSystem],
    systems: &[System],
    each: &[(Divergence, Adversary)],
    order: f64,
) -> Option<Vec<Left>> {
    if order.fract() > 0.0 || order > MOST_MONITORED {
        return None;
    }
    let mut monitor = Monitor::new(systems, order as u32).ok()?;
    let mut told = vec![(String::new(), monitor.weight()?, monitor.left()?)];
    for (at, (own, system)) in std::iter::zip(file, systems).enumerate() {
        let mut turns = Vec::new();
        while let Some((query, _)) = next(own, system, &each.get(at)?.1, &turns) {
            let outcomes = own.query(&turns, query)?.pair.outcomes();
            let likelier = |best: usize, new: usize| {
                if outcomes[new][0] > outcomes[best][0] { new } else { best }
            };
            let answer = (0..outcomes.len()).reduce(likelier)?;
            monitor.follow(at, Step { query, answer }).ok()?;
            turns = with(&turns, Turn { system: 0, query, answer });
            let said = words(own, &turns).pop().unwrap_or_default();
            let said = if file.len() > 1 { format!("{}.{said}", own.name) } else { said };
            told.push((said, monitor.weight()?, monitor.left()?));
        }
    }
    Some(told.into_iter().map(|(said, weight, left)| Left { said, weight, left }).collect())
}
