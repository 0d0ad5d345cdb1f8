//! Text in aligned columns.

/// The alignment of the text in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Lays out rows in columns two spaces apart, without spaces at the ends of lines.
pub(crate) fn columns<const N: usize>(sides: [Align; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut table = String::new();
    for row in rows {
        let cells = std::iter::zip(row, std::iter::zip(sides, widths));
        let cells = cells.map(|(text, (side, width))| match side {
            Align::Left => format!("{text:<width$}"),
            Align::Right => format!("{text:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let rows = [["a", "1", "x"], ["bcd", "é23", ""]].map(|row| row.map(str::to_owned));
        let table = columns([Align::Left, Align::Right, Align::Left], &rows);
        assert_eq!(table, "a      1  x\nbcd  é23\n");
    }
}
