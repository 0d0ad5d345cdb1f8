use counterpoint::quantity::*;
use counterpoint::*;
use std::time::Instant;
fn main() {
    let l = |s: f64| Mechanism::Laplace {
        scale: Noise::new(s).unwrap(),
        sensitivity: Sensitivity::new(1.0).unwrap(),
    };
    let g = |s: f64| Mechanism::Gaussian {
        sigma: Noise::new(s).unwrap(),
        sensitivity: Sensitivity::new(1.0).unwrap(),
    };
    let z = |s: f64| Mechanism::Zcdp { rho: Rho::new(s).unwrap(), delta: Delta::new(0.0).unwrap() };
    let ex = |s: f64| Mechanism::Exponential { epsilon: Epsilon::new(s).unwrap() };
    let rr = |e: f64| Mechanism::RandomizedResponse {
        epsilon: Epsilon::new(e).unwrap(),
        buckets: Buckets::new(2).unwrap(),
    };
    let r = |m: Mechanism, n: u64, q: Option<f64>| Release {
        mechanism: m,
        rate: q.map(|q| Rate::new(q).unwrap()),
        count: Count::new(n).unwrap(),
        part: None,
    };
    let ask = |name: &str, list: Vec<Release>, delta: f64, tol: f64| {
        let p = Plan::with(list, Some(Adjacency::AddRemove), Group::ONE).unwrap();
        let mut o = Options::default();
        o.tolerance = Tolerance::new(tol).unwrap();
        let s = Instant::now();
        let a = p.epsilon(Delta::new(delta).unwrap(), &o);
        println!(
            "{name} {tol:e}: {:?} {:?}",
            a.as_ref().map(|a| (a.bracket, a.bracket.relative_width(), a.route, a.theorem)),
            s.elapsed()
        );
        if let Ok(a) = a {
            let s = Instant::now();
            let d = p.delta(Epsilon::new(a.bracket.upper).unwrap(), &o);
            println!(
                "    delta {:?} {:?}",
                d.map(|a| (a.bracket, a.bracket.relative_width(), a.route)),
                s.elapsed()
            );
        }
    };
    let tol = 1e-6;
    ask("1000 laplace .1 18.950287367540", vec![r(l(10.0), 1000, None)], 1e-6, tol);
    ask(
        "mix 12.064250334773",
        vec![r(g(2.0), 10, None), r(l(20.0), 100, None), r(rr(0.2), 50, None)],
        1e-6,
        tol,
    );
    ask("dpsgd 6.187712389972", vec![r(g(1.0), 10_000, Some(0.01))], 1e-5, tol);
    ask("dpsgd 1e-30", vec![r(g(1.0), 10_000, Some(0.01))], 1e-30, tol);
    ask("dpsgd q.0001", vec![r(g(1.0), 10_000, Some(0.0001))], 1e-6, tol);
    ask("dpsgd q.5", vec![r(g(5.0), 1000, Some(0.5))], 1e-6, tol);
    ask("1 laplace", vec![r(l(1.0), 1, None)], 1e-6, tol);
    ask("1 laplace 1e-30", vec![r(l(1.0), 1, None)], 1e-30, tol);
    ask("5 laplace 1e-30", vec![r(l(1.0), 5, None)], 1e-30, tol);
    ask("1 gauss sampled", vec![r(g(1.0), 1, Some(0.01))], 1e-6, tol);
    ask("1 gauss sampled 1e-30", vec![r(g(1.0), 1, Some(0.01))], 1e-30, tol);
    ask("1 lap sampled", vec![r(l(1.0), 1, Some(0.01))], 1e-6, tol);
    ask("1 exp", vec![r(ex(0.8), 1, None)], 1e-20, tol);
    ask("100 exp .1", vec![r(ex(0.1), 100, None)], 1e-6, tol);
    ask("zcdp 7.766216625", vec![r(z(1.0), 1, None)], 1e-6, tol);
    ask("zcdp + laplace", vec![r(z(0.1), 1, None), r(l(10.0), 100, None)], 1e-6, tol);
}
