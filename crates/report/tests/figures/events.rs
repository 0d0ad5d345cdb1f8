//! The drawings of Lemma 3.3 and of Lemma 3.1, against sums in doubles written out here.

use counterpoint_report::plot::{Chart, Figure};

use super::{curve, curves, figure};

/// The chance of k heads in n tosses.
fn binomial(n: u64, k: u64, p: f64) -> f64 {
    let ways = (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
    ways * p.powf(k as f64) * (1.0 - p).powf((n - k) as f64)
}

/// The area of the chart's polygon of a name: Gauss's formula.
fn area(chart: &Chart, name: &str) -> f64 {
    let outline = &chart.areas.iter().find(|area| area.name == name).unwrap().outline;
    let next = outline.iter().cycle().skip(1);
    let terms = outline.iter().zip(next).map(|((x, y), (u, v))| x * v - u * y);
    (terms.sum::<f64>() / 2.0).abs()
}

/// The height of each step.
fn heights(points: &[(f64, f64)]) -> Vec<f64> {
    points.iter().step_by(2).map(|point| point.1).collect()
}

fn close(own: f64, expected: f64, what: &str) {
    assert!((own - expected).abs() < 1e-12, "{what}: {own}, not {expected}");
}

fn excess(p: &[f64], q: &[f64], ratio: f64) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - ratio * q).max(0.0)).sum()
}

fn quotes(figure: &Figure, number: f64) {
    let text = format!("{number:.4}");
    assert!(figure.caption.contains(&text), "{text} is not in: {}", figure.caption);
}

#[test]
fn mv_figure_1_has_the_areas_of_the_lemma() {
    let figure = figure("mv-figure-1");
    let q: Vec<f64> = (0..=24).map(|k| binomial(24, k, 0.625)).collect();
    let three = |k| [0.375, 0.5, 0.625].map(|p| binomial(24, k, p)).iter().sum::<f64>() / 3.0;
    let p: Vec<f64> = (0..=24).map(three).collect();
    let (alpha, beta) = (excess(&p, &q, 2.0), excess(&q, &p, 2.0));
    assert!(alpha > 1.01 * beta, "{alpha} {beta}: the proof has alpha > beta");
    let [first, second] = &figure.charts[..] else { panic!("two charts") };
    close(area(first, "α: X above e"), alpha, "alpha");
    close(area(first, "β: Y above f"), beta, "beta");
    let plain: Vec<Vec<f64>> =
        curves(first, "P[X = x], P[Y = x]").into_iter().map(heights).collect();
    for (own, expected) in [(&plain[0], &p), (&plain[1], &q)] {
        own.iter().zip(expected).for_each(|(own, x)| close(*own, *x, "a probability"));
    }
    let (e, f) = (heights(curve(first, "e")), heights(curve(first, "f")));
    for k in 0..=24 {
        close(e[k], p[k].min(2.0 * q[k]), "e");
        close(f[k], q[k].min(2.0 * p[k]), "f");
    }
    let above: f64 = f.iter().zip(&e).map(|(f, e)| (f - e).max(0.0)).sum();
    close(area(first, "f above e"), above, "f above e");
    // Both of one mass at last, and within the factor of each other.
    let (e, f) = (heights(curve(second, "e")), heights(curve(second, "f")));
    close(e.iter().sum(), 1.0 - alpha, "the mass of e");
    close(f.iter().sum(), 1.0 - alpha, "the mass of f");
    for k in 0..=24 {
        assert!(e[k] <= 2.0 * f[k] + 1e-15 && f[k] <= 2.0 * e[k] + 1e-15, "{k}");
        assert!(e[k] <= p[k] + 1e-15 && f[k] <= q[k] + 1e-15, "{k}");
    }
    for number in [alpha, beta, above, alpha - beta] {
        quotes(figure, number);
    }
}

#[test]
fn smith_figure_2_makes_x_of_a_response() {
    let figure = figure("smith-figure-2");
    let p: Vec<f64> = (0..=20).map(|k| binomial(20, k, 0.4)).collect();
    let q: Vec<f64> = (0..=20).map(|k| binomial(20, k, 0.6)).collect();
    let delta = excess(&p, &q, 3.0);
    let [first, second] = &figure.charts[..] else { panic!("two charts") };
    close(area(first, "A: X above exp(ε) Y"), delta, "A");
    close(area(first, "B: Y above exp(ε) X"), delta, "B");
    for (own, x) in heights(curve(first, "P of Y")).iter().zip(&q) {
        close(*own, *x, "a probability");
    }
    // The layers have the response's probabilities, and add up to X.
    let names = ["from “I am U”", "from 0", "from 1"];
    let shares = [delta, 0.75 * (1.0 - delta), 0.25 * (1.0 - delta)];
    for (name, share) in std::iter::zip(names, shares) {
        close(area(second, name), share, name);
        quotes(figure, share);
    }
    let top = &second.areas[2].outline[..2 * p.len()];
    for (own, x) in heights(top).iter().zip(&p) {
        close(*own, *x, "the layers' sum");
    }
}
