use counterpoint::quantity::*;
use counterpoint::*;
fn main() {
    let l = |s: f64| Mechanism::Laplace {
        scale: Noise::new(s).unwrap(),
        sensitivity: Sensitivity::new(1.0).unwrap(),
    };
    let g = |s: f64| Mechanism::Gaussian {
        sigma: Noise::new(s).unwrap(),
        sensitivity: Sensitivity::new(1.0).unwrap(),
    };
    let ex = |s: f64| Mechanism::Exponential { epsilon: Epsilon::new(s).unwrap() };
    let st = |s: f64| Mechanism::Staircase {
        epsilon: Epsilon::new(s).unwrap(),
        gamma: Some(Share::new(0.25).unwrap()),
    };
    let ge = |s: f64| Mechanism::Geometric {
        scale: Noise::new(s).unwrap(),
        sensitivity: Steps::new(3).unwrap(),
    };
    for (name, m) in [
        ("laplace 1", l(1.0)),
        ("laplace 2", l(2.0)),
        ("gauss 1", g(1.0)),
        ("exp 1", ex(1.0)),
        ("stair 1", st(1.0)),
        ("geo3", ge(1.0)),
    ] {
        for k in [1, 3, 40] {
            let p = Plan::new([(m.clone(), Count::new(k).unwrap())]).unwrap();
            let o = Options::default();
            for d in [0.1, 1e-3, 1e-6] {
                let s = std::time::Instant::now();
                match p.epsilon(Delta::new(d).unwrap(), &o) {
                    Ok(a) => println!(
                        "{name} x{k} eps at {d}: {} {:?} {:?}",
                        a.bracket,
                        a.route,
                        s.elapsed()
                    ),
                    Err(e) => println!("{name} x{k} eps at {d}: {e} {:?}", s.elapsed()),
                }
            }
            for d in [0.05, 1.0] {
                let s = std::time::Instant::now();
                match p.delta(Epsilon::new(d).unwrap(), &o) {
                    Ok(a) => println!(
                        "{name} x{k} delta at {d}: {} {:?} {:?}",
                        a.bracket,
                        a.route,
                        s.elapsed()
                    ),
                    Err(e) => println!("{name} x{k} delta at {d}: {e} {:?}", s.elapsed()),
                }
            }
        }
    }
}
