//! Rényi divergences of systems: the largest over all adversaries, their sum over interleavings (L Theorem 2), and the
//! budget monitor of the proof along a transcript.

use counterpoint::Bracket;
use counterpoint::quantity::Order;
use counterpoint_papers::interactive::{Adversary, Monitor, Step, System, Turn, concurrent};
use counterpoint_wire::PlanError;

use super::file::{FileSystem, Simulation, Subject};
use super::result::{Divergence, Divergences, MonitorState, SimulationError, input};
use super::systems::transcript;

/// The largest number of states for which the composed system is searched, as a check of the sum.
const MOST_SEARCHED: usize = 20_000;
/// The largest whole order at which the monitor runs.
const MOST_MONITORED: f64 = 64.0;
/// The largest number of an adversary's queries that are listed.
const MOST_QUERIES: usize = 64;

impl Divergences {
    /// The divergences of a simulation's systems.
    ///
    /// # Errors
    /// [`SimulationError::Input`] if the simulation has no systems, or the order is not legal.
    pub fn new(simulation: &Simulation, order: f64) -> Result<Self, SimulationError> {
        let Subject::Systems(file) = &simulation.subject else {
            let problem = "is for systems; legal: a file with [[system]] tables";
            return Err(SimulationError::Input(PlanError::field("order", problem.to_owned())));
        };
        let systems: Vec<System> =
            file.iter().map(|own| own.system().map_err(input)).collect::<Result<_, _>>()?;
        let checked = Order::new(order).map_err(input)?;
        let both = |system: &System| -> Result<([Bracket; 2], Adversary), SimulationError> {
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
            Ok(all) if all.size() <= MOST_SEARCHED => Some(both(&all)?.0),
            _ => None,
        };
        let monitor = monitor_states(file, &systems, &each, order).unwrap_or_default();
        let systems = each.into_iter().map(|(own, _)| own).collect();
        Ok(Self { order, systems, sums, searched, monitor })
    }
}

/// The sum of two brackets, rounded outward.
fn sum(a: Bracket, b: Bracket) -> Bracket {
    let (lower, upper) = (a.lower + b.lower, a.upper + b.upper);
    Bracket { lower: lower.next_down().max(0.0), upper: upper.next_up() }
}

/// Lists an adversary's queries, each with the history before it.
fn queries(own: &FileSystem, system: &System, adversary: &Adversary) -> Vec<(Vec<String>, String)> {
    let (mut asks, mut open) = (Vec::new(), vec![Vec::<Turn>::new()]);
    while let Some(turns) = open.pop() {
        let Some((query, count)) = next(own, system, adversary, &turns) else { continue };
        if asks.len() == MOST_QUERIES {
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
    let (said, _) = transcript(std::slice::from_ref(own), turns);
    said.iter().map(|said| said.text(false)).collect()
}

/// Returns the adversary's query after a history, and the number of its answers; `None` if the interaction is over.
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

/// Runs the monitor along the likeliest answers under p to the best adversaries, one system after the other; `None` if
/// it cannot run.
fn monitor_states(
    file: &[FileSystem],
    systems: &[System],
    each: &[(Divergence, Adversary)],
    order: f64,
) -> Option<Vec<MonitorState>> {
    if order.fract() > 0.0 || order > MOST_MONITORED {
        return None;
    }
    let mut monitor = Monitor::new(systems, order as u32).ok()?;
    let mut states = vec![(String::new(), monitor.weight()?, monitor.remaining()?)];
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
            states.push((said, monitor.weight()?, monitor.remaining()?));
        }
    }
    Some(
        states
            .into_iter()
            .map(|(step, weight, remaining)| MonitorState { step, weight, remaining })
            .collect(),
    )
}
