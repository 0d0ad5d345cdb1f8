//! Columns of numbers from a CSV file beside a plan.

use std::fs;
use std::path::{Component, Path};

use crate::text::error::PlanError;

/// More bytes than any table of cells has.
const MOST_BYTES: u64 = 1 << 28;
/// The number of items that a list in a plan may have.
const MOST_ROWS: usize = 1_000_000;

/// Reads the columns with these names, in any order, from a file whose first line has the names. The file must be in
/// the folder or below it: a plan may come from a stranger, and must not name other files of its reader.
pub(crate) fn read<const N: usize>(
    folder: &Path,
    file: &str,
    names: [&str; N],
) -> Result<[Vec<f64>; N], PlanError> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let elsewhere = || PlanError::plan("is elsewhere; legal: a CSV file beside the plan");
    if !Path::new(file).components().all(inside) {
        return Err(elsewhere());
    }
    let unreadable = |error: std::io::Error| {
        PlanError::plan(format!("cannot be read: {error}; legal: a CSV file"))
    };
    // A link may lead out of the folder, so the target of the link has to be in the folder too.
    let folder = Path::new(".").join(folder).canonicalize().map_err(unreadable)?;
    let path = folder.join(file).canonicalize().map_err(unreadable)?;
    if !path.starts_with(&folder) {
        return Err(elsewhere());
    }
    let about = fs::metadata(&path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(PlanError::plan("is no file; legal: a CSV file"));
    }
    if about.len() > MOST_BYTES {
        let problem = format!("is longer than {MOST_BYTES} bytes; legal: at most that");
        return Err(PlanError::plan(problem));
    }
    parse(&fs::read_to_string(path).map_err(unreadable)?, names)
}

fn parse<const N: usize>(text: &str, names: [&str; N]) -> Result<[Vec<f64>; N], PlanError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let legal = names.join(",");
    let empty = || PlanError::plan(format!("is empty; legal: a first line {legal}"));
    let (_, header) = lines.next().ok_or_else(empty)?;
    let header: Vec<&str> = entries(header).collect();
    if header.len() != N {
        return Err(PlanError::plan(format!("has {} columns; legal: {legal}", header.len())));
    }
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        let at = header.iter().position(|word| *word == name);
        let absent = || PlanError::plan(format!("has no column {name}; legal: {legal}"));
        *place = at.ok_or_else(absent)?;
    }
    let mut columns = names.map(|_| Vec::new());
    for (index, line) in lines {
        let row = numbers::<N>(line).map_err(|error| error.in_entry("line", index + 1, None))?;
        for (column, place) in columns.iter_mut().zip(places) {
            column.extend(row.get(place));
            if column.len() > MOST_ROWS {
                let problem = format!("has more than {MOST_ROWS} rows; legal: at most that");
                return Err(PlanError::plan(problem));
            }
        }
    }
    Ok(columns)
}

fn numbers<const N: usize>(line: &str) -> Result<[f64; N], PlanError> {
    let words: Vec<&str> = entries(line).collect();
    if words.len() != N {
        return Err(PlanError::plan(format!("{} entries; legal: {N}", words.len())));
    }
    let mut row = [0.0; N];
    for (number, word) in row.iter_mut().zip(words) {
        let wrong = |_| PlanError::plan(format!("{word:?} is no number; legal: numbers"));
        *number = word.parse().map_err(wrong)?;
    }
    Ok(row)
}

fn entries(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|word| word.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_in_any_order_and_bad_ones_are_named() {
        let good = parse("\u{feff}\"q\", p\r\n1,2\r\n\r\n-inf,4e-1\r\n", ["p", "q"]);
        assert_eq!(good, Ok([vec![2.0, 0.4], vec![1.0, f64::NEG_INFINITY]]));
        for (text, problem) in [
            ("", "is empty; legal: a first line p,q"),
            ("p,q,r\n", "has 3 columns; legal: p,q"),
            ("p,r\n", "has no column q; legal: p,q"),
            ("p,q\n1,2\n\n3\n", "line 4: 1 entries; legal: 2"),
            ("p,q\n1,x\n", "line 2: \"x\" is no number; legal: numbers"),
        ] {
            assert_eq!(parse(text, ["p", "q"]).unwrap_err().to_string(), problem, "{text:?}");
        }
    }
}
