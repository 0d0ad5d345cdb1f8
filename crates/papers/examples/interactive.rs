//! Two interactive mechanisms that are attacked at once: what an adversary gains by interleaving its queries, and that
//! the gain is never more than composition allows for.
//! `cargo run --release -p counterpoint-papers --example interactive`
//!
//! Each mechanism first draws, in public, which of two menus it offers. From a menu, the adversary may order one thing:
//! a randomized response, or a leak with a small probability. An adversary that must finish one mechanism before the
//! other has to order from the first without knowing the second menu.

use counterpoint_numerics::fractions::{Ratio, nearest};
use counterpoint_papers::interactive::{
    Answer, Step, System, concurrent, concurrent_delta, decompose,
};
use counterpoint_papers::pair::Pair;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let over = System::over();
    let both = [mechanism(&over)?, mechanism(&over)?];
    // One after the other: the second mechanism begins when the first is over.
    let in_turn = mechanism(&mechanism(&over)?)?;

    println!("The least delta of two mechanisms, at e^epsilon = x:\n");
    println!(
        "{:>6} {:>12} {:>12} {:>12} {:>12}",
        "x", "in turn", "interleaved", "dominating", "optimal"
    );
    for text in ["1", "3/2", "2", "3", "4", "6"] {
        let x: Ratio = text.parse()?;
        let columns = [
            in_turn.delta(&x),
            concurrent_delta(&both, &x)?,
            dominating(&both)?.delta(&x),
            optimal(&both, &x)?,
        ];
        let columns = columns.map(|delta| format!("{:12.8}", nearest(&delta)));
        println!("{text:>6} {}", columns.join(" "));
    }
    println!(
        "\nin turn       the best adversary that finishes one mechanism before the other\n\
         interleaved   the best adversary of all\n\
         dominating    two pairs, each as bad as all adversaries of one mechanism\n\
         optimal       two leaky randomized responses, as private as each mechanism"
    );
    let plain = Pair::response(&"3".parse()?, &"1/50".parse()?)?;
    let x: Ratio = "2".parse()?;
    println!(
        "\nTwo plain leaky randomized responses at x = 2: {} concurrently, {} by optimal composition",
        concurrent_delta(&[System::from(&plain), System::from(&plain)], &x)?,
        plain.product(&plain)?.delta(&x)
    );
    show_adversary(&both, &"4".parse()?)?;
    show_decomposition(&both[0], &"2".parse()?)
}

/// A mechanism: a public coin, and then one of two menus.
fn mechanism(then: &System) -> Result<System, Box<dyn Error>> {
    let half: Ratio = "1/2".parse()?;
    let (strong, weak) = (menu("4", "1/20", then)?, menu("5/4", "1/6", then)?);
    let coin = vec![
        Answer::new(half.clone(), half.clone(), strong),
        Answer::new(half.clone(), half, weak),
    ];
    Ok(System::new(vec![coin])?)
}

/// A menu: a randomized response, or a leak with a small probability.
fn menu(ratio: &str, leak: &str, then: &System) -> Result<System, Box<dyn Error>> {
    let response = Pair::response(&ratio.parse()?, &Ratio::ZERO)?;
    let shame = Pair::response(&Ratio::ONE, &leak.parse()?)?;
    Ok(System::new(vec![Answer::list(&response, then), Answer::list(&shame, then)])?)
}

/// The product of pairs that dominate each mechanism (Vadhan and Zhang 2023).
fn dominating(systems: &[System]) -> Result<Pair, Box<dyn Error>> {
    let nothing = Pair::response(&Ratio::ONE, &Ratio::ZERO)?;
    let all = systems.iter().try_fold(nothing, |all, one| all.product(&one.dominating_pair()))?;
    Ok(all)
}

/// Optimal composition of the guarantees of each mechanism (Lyu, Theorem 1): the least delta over guarantees at a few
/// ratios.
fn optimal(systems: &[System], x: &Ratio) -> Result<Ratio, Box<dyn Error>> {
    let mut least = Ratio::ONE;
    for at in (4..=16).map(|quarters| Ratio::from(quarters) / Ratio::from(4)) {
        let nothing = Pair::response(&Ratio::ONE, &Ratio::ZERO)?;
        let all = systems
            .iter()
            .try_fold(nothing, |all, one| all.product(&Pair::response(&at, &one.delta(&at))?))?;
        least = least.min(all.delta(x));
    }
    Ok(least)
}

/// Prints the first three queries of the best adversary: the coins, and then its order.
fn show_adversary(systems: &[System], x: &Ratio) -> Result<(), Box<dyn Error>> {
    let whole = concurrent(systems)?;
    let attack = whole.attack(x);
    println!("\nThe best adversary at x = {x}, of {} histories it may see:", whole.size());
    // Queries to the first mechanism are counted before those to the second.
    let first = whole.next_query(&attack.adversary, &[]);
    for (coin, name) in [(0, "strong"), (1, "weak")] {
        let history = [Step { query: first.unwrap_or(0), answer: coin }];
        let next = whole.next_query(&attack.adversary, &history);
        let what = ["a response", "the leak", "the other mechanism's coin"];
        println!("  after a {name} first menu it asks for {}", what[next.unwrap_or(2).min(2)]);
    }
    Ok(())
}

/// Checks Lyu's Theorem 3: the mechanism is a randomized function of a leaky randomized response.
fn show_decomposition(system: &System, x: &Ratio) -> Result<(), Box<dyn Error>> {
    let delta = system.delta(x);
    let parts = decompose(system, x, &delta)?;
    println!(
        "\nAt x = {x} one mechanism has delta {delta}, and is made up of N0, N1, E0, E1 by Lyu's \
         equation (3): {}",
        parts.reproduces(system)
    );
    Ok(())
}
