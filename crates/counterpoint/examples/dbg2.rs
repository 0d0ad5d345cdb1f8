use counterpoint::quantity::*;
use counterpoint::*;
fn main() {
    let a: Vec<f64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let g = Mechanism::Gaussian { sigma: Noise::new(a[0]).unwrap(), sensitivity: Sensitivity::new(1.0).unwrap() };
    let r = Release { mechanism: g, rate: Some(Rate::new(a[1]).unwrap()), count: Count::new(a[2] as u64).unwrap(), part: None };
    let p = Plan::with([r], Some(Adjacency::AddRemove), Group::ONE).unwrap();
    let mut o = Options::default();
    o.tolerance = Tolerance::new(a[4]).unwrap();
    for _ in 0..3 {
    let s = std::time::Instant::now();
    let x = if a[3] < 0.0 { p.delta(Epsilon::new(-a[3]).unwrap(), &o) } else { p.epsilon(Delta::new(a[3]).unwrap(), &o) };
    println!("answer {:?} {:?}", x.map(|x|(x.bracket, x.bracket.relative_width(), x.route)), s.elapsed());
    }
}
