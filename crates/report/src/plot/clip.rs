//! Clips lines and polygons to a rectangle.

/// A point of the picture.
pub(super) type Point = (f64, f64);

/// A rectangle of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// True if a point is inside or, up to rounding, on the edge.
    pub(super) fn holds(&self, (x, y): Point) -> bool {
        let slack = 1e-6;
        (self.left - slack..=self.right + slack).contains(&x)
            && (self.top - slack..=self.bottom + slack).contains(&y)
    }

    /// The distance of a point to each edge; positive inside.
    fn inside(&self, (x, y): Point) -> [f64; 4] {
        [x - self.left, self.right - x, y - self.top, self.bottom - y]
    }
}

/// The pieces of a line with gaps that are inside.
pub(super) fn line(points: &[Option<Point>], frame: &Frame) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    let mut joined = false;
    for ends in points.windows(2) {
        let [Some(from), Some(to)] = *ends else {
            joined = false;
            continue;
        };
        let Some((start, end)) = segment(from, to, frame) else {
            joined = false;
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if joined => piece.push(between(from, to, end)),
            _ => pieces.push(vec![between(from, to, start), between(from, to, end)]),
        }
        joined = end >= 1.0;
    }
    pieces
}

/// The part of a segment that is inside, as shares of its length (Liang and Barsky).
fn segment(from: Point, to: Point, frame: &Frame) -> Option<(f64, f64)> {
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for (a, b) in std::iter::zip(frame.inside(from), frame.inside(to)) {
        if a < 0.0 && b < 0.0 {
            return None;
        }
        if a < 0.0 {
            start = start.max(a / (a - b));
        } else if b < 0.0 {
            end = end.min(a / (a - b));
        }
    }
    (start <= end).then_some((start, end))
}

fn between(from: Point, to: Point, share: f64) -> Point {
    if share >= 1.0 {
        return to;
    }
    (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
}

/// The part of a polygon that is inside (Sutherland and Hodgman).
pub(super) fn polygon(corners: &[Point], frame: &Frame) -> Vec<Point> {
    let mut kept = corners.to_vec();
    for edge in 0..4 {
        let depth = |point: Point| frame.inside(point)[edge];
        let mut next = Vec::with_capacity(kept.len() + 1);
        let before = kept.iter().cycle().skip(kept.len().saturating_sub(1));
        for (&from, &to) in std::iter::zip(before, &kept) {
            let (a, b) = (depth(from), depth(to));
            if (a < 0.0) != (b < 0.0) {
                next.push(between(from, to, a / (a - b)));
            }
            if b >= 0.0 {
                next.push(to);
            }
        }
        kept = next;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Frame = Frame { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };

    #[test]
    fn a_line_is_cut_at_the_edges_and_at_gaps() {
        let through = [Some((-1.0, 0.5)), Some((2.0, 0.5))];
        assert_eq!(line(&through, &UNIT), [vec![(0.0, 0.5), (1.0, 0.5)]]);
        let gap = [Some((0.1, 0.1)), Some((0.2, 0.1)), None, Some((0.4, 0.1)), Some((0.5, 2.0))];
        let pieces = line(&gap, &UNIT);
        assert_eq!(pieces.len(), 2);
        assert!((pieces[1][1].1 - 1.0).abs() < 1e-12);
        assert!(line(&[Some((-1.0, 0.5)), Some((0.5, 3.0))], &UNIT).is_empty());
        let there_and_back = [Some((0.5, 0.5)), Some((1.5, 0.5)), Some((0.5, 0.6))];
        assert_eq!(line(&there_and_back, &UNIT).len(), 2);
    }

    /// Half the signed area, by the shoelace formula.
    fn area(corners: &[Point]) -> f64 {
        let next = corners.iter().cycle().skip(1);
        let twice: f64 = std::iter::zip(corners, next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum();
        twice.abs() / 2.0
    }

    #[test]
    fn a_polygon_keeps_what_is_inside() {
        let tilted = [(0.5, -0.5), (1.5, 0.5), (0.5, 1.5), (-0.5, 0.5)];
        assert!((area(&polygon(&tilted, &UNIT)) - 1.0).abs() < 1e-12);
        let triangle = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0)];
        assert!((area(&polygon(&triangle, &UNIT)) - 1.0).abs() < 1e-12);
        let corner = [(0.5, 0.5), (3.0, 0.5), (0.5, 3.0)];
        assert!((area(&polygon(&corner, &UNIT)) - 0.25).abs() < 1e-12);
        assert!(polygon(&[(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)], &UNIT).is_empty());
        assert!(polygon(&[], &UNIT).is_empty());
    }
}
