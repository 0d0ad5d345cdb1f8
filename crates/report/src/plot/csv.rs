use super::Figure;

/// Lists the points of the curves, then the corners of the areas, chart by chart.
pub(super) fn csv(figure: &Figure) -> String {
    let mut text = String::from("chart,kind,name,x,y,lower,upper\n");
    for (number, chart) in (1..).zip(&figure.charts) {
        let series = chart.series.iter().map(|series| {
            let of = if series.variant.is_empty() { &series.label } else { &series.variant };
            let name = if of.is_empty() || *of == series.name {
                series.name.clone()
            } else {
                format!("{}, {of}", series.name)
            };
            ("curve", name, &series.points, series.bounds.as_slice())
        });
        let areas = chart.areas.iter();
        let areas = areas.map(|area| ("area", area.name.clone(), &area.outline, &[][..]));
        for (kind, name, points, ends) in series.chain(areas) {
            let name = quoted(&name);
            for (n, (x, y)) in points.iter().enumerate() {
                let ends = ends.get(n).map(|(lower, upper)| format!("{lower:?},{upper:?}"));
                let ends = ends.as_deref().unwrap_or(",");
                text.push_str(&format!("{number},{kind},{name},{x:?},{y:?},{ends}\n"));
            }
        }
    }
    text
}

/// Quotes a field if necessary.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Area, Axis, Chart, Color, Figure, Series};

    #[test]
    fn a_line_for_each_point_and_each_corner() {
        let mut chart = Chart::new(Axis::new("x"), Axis::new("y"));
        chart.series.push(Series::new("e", [(1.0, 2.0)]).bounds([(1.5, 2.0)]));
        chart.series.push(Series::new("a \"b\"", [(0.1, 1e-30)]).label("c"));
        chart.areas.push(Area::new("d", [(0.0, 1.0)], Color::Grey));
        let csv = Figure::new("t", "c", [chart]).csv();
        let expected = "chart,kind,name,x,y,lower,upper\n\
                        1,curve,e,1.0,2.0,1.5,2.0\n\
                        1,curve,\"a \"\"b\"\", c\",0.1,1e-30,,\n\
                        1,area,d,0.0,1.0,,\n";
        assert_eq!(csv, expected);
    }
}
