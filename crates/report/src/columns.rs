//! Text in aligned columns.

/// Which side of a column its text keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Lays out rows in columns two spaces apart. Lines end with their text.
pub(crate) fn columns<const N: usize>(sides: [Side; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut table = String::new();
    for row in rows {
        let cells = std::iter::zip(row, std::iter::zip(sides, widths));
        let cells = cells.map(|(text, (side, width))| match side {
            Side::Left => format!("{text:<width$}"),
            Side::Right => format!("{text:>width$}"),
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
        let table = columns([Side::Left, Side::Right, Side::Left], &rows);
        assert_eq!(table, "a      1  x\nbcd  é23\n");
    }
}
