//! Somebody with write access to the database.

use counterpoint::Adjacency;
use counterpoint_ledger::{Head, Kind, Ledger, NewAccount, NewQuota, Request};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::{Place, Random, amount, budget, described, plan, release, size, slot};

const TABLES: [&str; 7] = [
    "ledger_version",
    "ledger_entry",
    "ledger_head",
    "ledger_account",
    "ledger_slot",
    "ledger_quota",
    "ledger_release",
];

/// A ledger with something of everything; its file's bytes half way and at the end, and its
/// last head.
fn rich() -> (Vec<u8>, Vec<u8>, Head) {
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.dataset("d", Adjacency::AddRemove, &budget(Kind::Sums, "9", "0.001")).unwrap();
    ledger.dataset("e", Adjacency::Replace, &budget(Kind::Zcdp, "3", "1e-6")).unwrap();
    let slots = r#"{"delta": 1e-7, "release": [
        {"name": "ages", "mechanism": "laplace", "scale": 10, "count": 5},
        {"name": "pay", "mechanism": "approx-dp", "epsilon": 0.5}]}"#;
    ledger.open_account("plan", "d", &NewAccount::Plan(plan(slots), None)).unwrap();
    let open = |kind, epsilon| NewAccount::Filter(budget(kind, epsilon, "1e-6"));
    ledger.open_account("sums", "d", &open(Kind::Sums, "1")).unwrap();
    ledger.open_account("renyi", "d", &open(Kind::Renyi, "2")).unwrap();
    let share = NewQuota::Cost { epsilon: amount("0.5"), delta: amount("0") };
    ledger.quota("sums", "ann", &share).unwrap();
    ledger.quota("sums", "bob", &NewQuota::Share(amount("0.6"))).unwrap();
    let half = |ledger: &mut Ledger, tag: &str| {
        let gaussian = described(r#"{"mechanism":"gaussian","sigma":40}"#);
        let (ages, tenth) = (slot("ages", 2), release("0.1"));
        for (account, asked, analyst) in [
            ("plan", &ages, None),
            ("sums", &tenth, Some("ann")),
            ("sums", &tenth, Some("bob")),
            ("renyi", &gaussian, None),
        ] {
            let key = format!("{account}-{}-{tag}", analyst.unwrap_or("all"));
            ledger.reserve(&Request { analyst, ..Request::new(account, &key, asked) }).unwrap();
            if account != "renyi" {
                ledger.commit(&key, key.repeat(3).as_bytes()).unwrap();
            }
        }
    };
    half(&mut ledger, "first");
    drop(ledger);
    let before = std::fs::read(place.file()).unwrap();
    let mut ledger = place.open();
    half(&mut ledger, "second");
    let head = ledger.head().unwrap();
    drop(ledger);
    (before, std::fs::read(place.file()).unwrap(), head)
}

/// Whether a ledger with these bytes is found to be wrong.
fn is_found(place: &Place, head: Head) -> bool {
    match Ledger::open(&place.url()) {
        Ok(mut ledger) => {
            ledger.verify(Some(head)).map_or(true, |verification| verification.problem.is_some())
        }
        Err(_) => true,
    }
}

/// Everything that is stored, in an order of its own.
fn dump(connection: &Connection) -> Vec<String> {
    let mut all = Vec::new();
    for table in TABLES {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let width = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let cells: Vec<Value> = (0..width).map(|at| row.get(at).unwrap()).collect();
            Ok(format!("{table} {cells:?}"))
        };
        all.extend(statement.query_map([], row).unwrap().map(Result::unwrap));
    }
    all.sort();
    all
}

/// A random change: flipped, deleted, swapped, inserted or cut off.
fn change(connection: &Connection, random: &mut Random) -> rusqlite::Result<String> {
    let table = TABLES[random.below(TABLES.len() as u64) as usize];
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let rows = count(&format!("SELECT count(*) FROM {table}"))?.max(1) as u64;
    let rowid = |offset: u64| {
        let sql = format!("SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {offset}");
        count(&sql)
    };
    let (one, two) = (rowid(random.below(rows))?, rowid(random.below(rows))?);
    let columns: Vec<String> = connection
        .prepare(&format!("SELECT * FROM {table}"))?
        .column_names()
        .map(str::to_owned)
        .collect();
    let column = &columns[random.below(columns.len() as u64) as usize];
    let cell = |rowid: i64| {
        let sql = format!("SELECT {column} FROM {table} WHERE rowid = ?1");
        connection.query_row(&sql, [rowid], |row| row.get::<_, Value>(0))
    };
    let set = |rowid: i64, value: &Value| {
        let sql = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = ?2");
        connection.execute(&sql, rusqlite::params![value, rowid])
    };
    match random.below(6) {
        0 | 1 => {
            let value = flipped(cell(one)?, random);
            set(one, &value)?;
            Ok(format!("{table}.{column} of {one} is now {value:?}"))
        }
        2 => {
            connection.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [one])?;
            Ok(format!("{table} {one} deleted"))
        }
        3 => {
            let (a, b) = (cell(one)?, cell(two)?);
            let apart = Value::Blob(vec![9; 32]);
            // A value of its own in between, so that a unique column lets it happen.
            if matches!(a, Value::Blob(_)) {
                set(one, &apart)?;
            }
            set(two, &a)?;
            set(one, &b)?;
            Ok(format!("{table}.{column} of {one} and {two} swapped"))
        }
        4 => {
            let list = columns.join(", ");
            let fresh = columns.iter().map(|name| match name.as_str() {
                "sequence" | "reserved" | "opened" | "id" => format!("{name} + 1000"),
                "previous" | "hash" => "randomblob(32)".to_owned(),
                "key" | "name" | "analyst" => format!("{name} || 'x'"),
                _ => name.clone(),
            });
            let fresh = fresh.collect::<Vec<_>>().join(", ");
            let sql = format!(
                "INSERT INTO {table} ({list}) SELECT {fresh} FROM {table} WHERE rowid = ?1"
            );
            connection.execute(&sql, [one])?;
            Ok(format!("{table} {one} copied"))
        }
        _ => {
            // Cut off, and the head set back to hide it.
            let last = count("SELECT max(sequence) FROM ledger_entry")?;
            let kept = last - 1 - random.below(5) as i64;
            connection.execute("DELETE FROM ledger_entry WHERE sequence > ?1", [kept])?;
            connection.execute(
                "UPDATE ledger_head SET (sequence, hash) = \
                 (SELECT sequence, hash FROM ledger_entry ORDER BY sequence DESC LIMIT 1)",
                [],
            )?;
            connection.execute("DELETE FROM ledger_release WHERE reserved > ?1", [kept])?;
            Ok(format!("cut off after {kept}"))
        }
    }
}

/// Another value, close by.
fn flipped(value: Value, random: &mut Random) -> Value {
    match value {
        Value::Null => [Value::Integer(7), Value::Text("x".into()), Value::Blob(vec![1])]
            [random.below(3) as usize]
            .clone(),
        Value::Integer(number) => {
            let by = 1 + random.below(3) as i64;
            Value::Integer(if random.below(2) == 0 { number + by } else { number - by })
        }
        Value::Real(number) => Value::Real(number + 1.0),
        Value::Text(text) => {
            let mut characters: Vec<char> = text.chars().collect();
            let at = random.below(characters.len().max(1) as u64) as usize;
            match random.below(3) {
                0 => characters.insert(at, '0'),
                1 if !characters.is_empty() => drop(characters.remove(at)),
                _ if characters.is_empty() => characters.push('1'),
                _ => characters[at] = if characters[at] == '1' { '2' } else { '1' },
            }
            Value::Text(characters.into_iter().collect())
        }
        Value::Blob(mut bytes) => {
            let at = random.below(bytes.len().max(1) as u64) as usize;
            match bytes.get_mut(at) {
                Some(byte) => *byte ^= 1 << random.below(8),
                None => bytes.push(0),
            }
            Value::Blob(bytes)
        }
    }
}

/// Full: 10,000 changes. Quick: 250.
#[test]
fn every_change_to_the_stored_rows_is_found() {
    let (_, bytes, head) = rich();
    let folder = Place::sqlite();
    std::fs::write(folder.file(), &bytes).unwrap();
    assert!(!is_found(&folder, head), "nothing is wrong yet");
    let (mut random, mut done) = (Random(42), 0);
    while done < size(10_000, 250) {
        let place = Place::sqlite();
        std::fs::write(place.file(), &bytes).unwrap();
        let connection = Connection::open(place.file()).unwrap();
        connection
            .execute_batch(
                "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
                 PRAGMA ignore_check_constraints = ON;
                 DROP TRIGGER ledger_entry_kept; DROP TRIGGER ledger_entry_fixed;",
            )
            .unwrap();
        let before = dump(&connection);
        // What the database itself refuses is no change.
        let Ok(what) = change(&connection, &mut random) else { continue };
        if dump(&connection) == before {
            continue;
        }
        drop(connection);
        assert!(is_found(&place, head), "{what}");
        done += 1;
    }
}

#[test]
fn an_old_backup_is_found_by_the_expected_head_alone() {
    let (before, _, head) = rich();
    let place = Place::sqlite();
    std::fs::write(place.file(), &before).unwrap();
    let mut ledger = place.open();
    assert_eq!(ledger.verify(None).unwrap().problem, None);
    let problem = ledger.verify(Some(head)).unwrap().problem.unwrap();
    assert!(problem.contains("is expected and missing"), "{problem}");
    // It goes on, and gets as long as it was: still another history.
    while ledger.head().unwrap().sequence <= head.sequence {
        let key = format!("again-{}", ledger.head().unwrap().sequence);
        ledger.reserve(&Request::new("renyi", &key, &release("0.001"))).unwrap();
    }
    assert_eq!(ledger.verify(None).unwrap().problem, None);
    let problem = ledger.verify(Some(head)).unwrap().problem.unwrap();
    assert!(problem.contains("is not the one that was expected"), "{problem}");
}

#[test]
fn entries_are_not_changed_by_accident() {
    for place in Place::all() {
        drop(crate::with_account(&place, "1"));
        for sql in ["DELETE FROM ledger_entry", "UPDATE ledger_entry SET body = 'x'"] {
            let mut database = place.url().open(false).unwrap();
            database.begin(counterpoint_ledger::database::Access::Write).unwrap();
            assert!(database.execute(sql, &[]).is_err(), "{sql}");
        }
        // Budgets are held by the database too.
        let mut database = place.url().open(false).unwrap();
        database.begin(counterpoint_ledger::database::Access::Write).unwrap();
        let sql = "UPDATE ledger_account SET spent_main = '9' || spent_main";
        assert!(database.execute(sql, &[]).is_err());
    }
}
