//! The reduction of MV section 4, against brute force.

#[path = "../examples/partitions.rs"]
mod example;

fn brute_force(list: &[u64]) -> u64 {
    (0_u32..1 << list.len())
        .filter(|subset| {
            let side = |bit: u32| -> u128 {
                let chosen = list.iter().enumerate().filter(|(i, _)| subset >> i & 1 == bit);
                chosen.map(|(_, &z)| u128::from(z)).product()
            };
            side(0) == side(1)
        })
        .count() as u64
}

#[test]
fn an_oracle_for_optimal_composition_counts_equal_partitions() {
    let lists: [&[u64]; 12] = [
        &[1],
        &[1, 1, 1],
        &[2],
        &[2, 2],
        &[2, 3, 6],
        &[2, 3, 5],
        &[4, 9, 36, 1],
        &[2, 3, 6, 4, 9, 36],
        &[2, 2, 2, 2, 2, 2],
        &[6, 10, 15, 2, 3, 5],
        &[12, 18, 6, 6, 4, 9, 3, 2],
        &[30, 42, 35, 2, 3, 5, 7, 14],
    ];
    for list in lists {
        assert_eq!(example::count(list).unwrap(), brute_force(list), "{list:?}");
    }
}
