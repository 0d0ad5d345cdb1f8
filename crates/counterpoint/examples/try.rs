use counterpoint::*;
fn main() { if std::env::args().nth(1).is_some() { let phi = |k: usize| (1..=k).map(|i| 0.01 + 0.19 * (0.6180339887 * i as f64).fract()).collect::<Vec<_>>(); let k: usize = std::env::args().nth(1).unwrap().parse().unwrap(); let c = Composition::new(phi(k).iter().map(|&e| (Guarantee::new(e, 0.0).unwrap(), Count::ONE))).unwrap(); let n = 2000*100/k; let t=std::time::Instant::now(); for _ in 0..n { epsilon(&c, Delta::new(1e-6).unwrap(), &Options::default()).unwrap(); } println!("{:?} per call", t.elapsed()/n as u32); return; }
    let o = Options::default();
    let eq = |e: f64, d: f64, n: u64, g: f64| {
        let c = Composition::new([(Guarantee::new(e, d).unwrap(), Count::new(n).unwrap())]).unwrap();
        let t = std::time::Instant::now();
        let a = epsilon(&c, Delta::new(g).unwrap(), &o).unwrap();
        println!("{e} {d} x{n} @ {g:e}: {} width {:.1e} {:?} {:?}", a.bracket, a.bracket.relative_width(), a.route, t.elapsed());
    };
    eq(0.1, 0.0, 100, 1e-6);
    eq(0.1, 0.0, 1000, 1e-6);
    eq(0.1, 0.0, 1000, 1e-6);
    eq(0.5, 0.0, 30, 1e-6);
    eq(0.1, 0.0, 100, 1e-12);
    eq(0.1, 1e-7, 10, 1e-6);
    eq(0.1, 0.0, 1000, 2f64.powi(-40));
    eq(0.1, 0.0, 1000, 1e-300);
    eq(0.001, 0.0, 1000000000, 1e-6);
    eq(0.0001, 0.0, 1000000000, 1e-6);
    eq(0.1, 0.0, 1000000000, 1e-6);
    eq(0.0001, 0.0, 1000000000, 1e-300);
    eq(0.001, 0.0, 1000000000000, 1e-6);
    eq(800.0, 0.0, 3, 1e-6);
    eq(800.0, 0.0, 3, 0.9);
    eq(50.0, 0.0, 1, 1.0-1e-14);
    eq(1e-9, 0.0, 1000000000, 0.5);
    eq(1e-9, 0.0, 1000000000, 1e-6);
    eq(0.005, 0.0, 100, 2f64.powi(-25));
    let list = |v: Vec<f64>, g: f64, r: Option<counterpoint::route::Route>, tol: f64| {
        let c = Composition::new(v.iter().map(|&e| (Guarantee::new(e, 0.0).unwrap(), Count::ONE))).unwrap();
        let mut o = Options::default(); o.route = r; o.tolerance = Tolerance::new(tol).unwrap();
        let t = std::time::Instant::now();
        match epsilon(&c, Delta::new(g).unwrap(), &o) { Ok(a) =>
        println!("{} distinct @ {g:e}: {} width {:.1e} {:?} {:?}", v.len(), a.bracket, a.bracket.relative_width(), a.route, t.elapsed()),
        Err(e) => println!("{} distinct @ {g:e}: error {e} {:?}", v.len(), t.elapsed()) }
    };
    use counterpoint::route::Route::*;
    let phi = |k: usize| (1..=k).map(|i| 0.01 + 0.19 * (0.6180339887 * i as f64).fract()).collect::<Vec<_>>();
    for r in [Some(Halves), Some(Contour), Some(Convolution)] {
    list((1..=20).map(|i| 0.05 * i as f64).collect(), 0.43159979955085839, r, 1e-6);
    list((1..=20).map(|i| 0.05 * i as f64).collect(), 0.08395595258874154, r, 1e-6);
    list(phi(10), 1e-6, r, 1e-6);
    list(phi(20), 1e-6, r, 1e-6);
    list(phi(30), 1e-6, r, 1e-6);
    }
    list(phi(40), 1e-6, Some(Halves), 1e-6);
    for r in [None, Some(Contour), Some(Convolution)] {
    list(phi(40), 1e-6, r, 1e-6);
    list(phi(100), 1e-6, r, 1e-6);
    list(phi(100), 1e-6, r, 1e-6);
    }
    for tol in [1e-6, 1e-9] {
    list(phi(100), 1e-6, None, tol);
    list(phi(1000), 1e-6, None, tol);
    list(phi(1000), 1e-30, None, tol);
    list(phi(1000), 1e-300, None, tol);
    list(phi(10000), 1e-6, None, tol);
    list(phi(10000), 1e-300, None, tol);
    list(phi(1000000), 1e-6, None, tol);
    }
}
