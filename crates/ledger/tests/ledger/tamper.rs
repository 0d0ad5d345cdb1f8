//! Somebody with write access to the database.

use counterpoint_ledger::database::{Access, Cell, Database, DatabaseError, Dialect, Row};
use counterpoint_ledger::{
    FilterKind, Hash, Head, Ledger, LedgerError, NewAccount, NewAnswer, NewQuota, Request, Url,
};
use counterpoint_wire::ledger::Openings;

use crate::{
    Place, Random, add_remove, amount, budget, described, new_answer, pay, plan, release, replace,
    size, slot, with_account,
};

/// The tables with their columns.
const TABLES: [(&str, &str); 11] = [
    ("ledger_version", "id, version"),
    ("ledger_entry", "sequence, previous, hash, account, body"),
    ("ledger_head", "id, sequence, hash"),
    (
        "ledger_account",
        "name, parent, slot, opened, adjacency, records, part, rule, capacity_main, \
         capacity_delta, capacity_pure, spent_main, spent_delta, spent_pure, charges, quotas, \
         closed",
    ),
    ("ledger_slot", "account, name, total, used, release"),
    (
        "ledger_quota",
        "account, analyst, capacity_main, capacity_delta, capacity_pure, spent_main, \
         spent_delta, spent_pure, charges",
    ),
    ("ledger_release", "key, account, analyst, session, request, reserved, committed, response"),
    ("ledger_session", "key, account, begun, answered, ended, declaration"),
    ("ledger_answer", "key, account, number, ask, question, entry, response"),
    ("ledger_state", "key, account, state"),
    ("ledger_alias", "account, analyst, alias, key, entry"),
];
const ENTRIES: usize = 1;
const HEAD: usize = 2;
const RELEASES: usize = 6;
const SESSIONS: usize = 7;
const ANSWERS: usize = 8;
const STATES: usize = 9;

/// All rows of all tables.
type Rows = Vec<Vec<Row>>;

/// A ledger with something of everything, its files' bytes half way (SQLite alone), and its last
/// head.
pub(crate) fn rich(place: &Place) -> (Option<Vec<u8>>, Head) {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "0.001")).unwrap();
    ledger.add_dataset("e", replace(), &budget(FilterKind::Zcdp, "3", "1e-6")).unwrap();
    let slots = r#"{"delta": 1e-7, "release": [
        {"name": "ages", "mechanism": "laplace", "scale": 10, "count": 5},
        {"name": "pay", "mechanism": "approx-dp", "epsilon": 0.5},
        {"name": "north", "mechanism": "approx-dp", "epsilon": 0.1, "partition": "north"}]}"#;
    ledger.open_account("plan", "d", &NewAccount::Plan(plan(slots), None)).unwrap();
    let open = |kind, epsilon| NewAccount::Filter(budget(kind, epsilon, "1e-6"));
    ledger.open_account("sums", "d", &open(FilterKind::Sums, "1")).unwrap();
    ledger.open_account("renyi", "d", &open(FilterKind::Renyi, "2")).unwrap();
    let pieces = r#"{"release": [{"name": "small", "mechanism": "approx-dp", "epsilon": 0.1,
        "count": 2}]}"#;
    let one = Openings { slot: "pay".to_owned(), count: 1 };
    ledger.recut("plan", &[one], &plan(pieces)).unwrap();
    ledger.open_in_slot("inner", "plan", "small", &budget(FilterKind::Sums, "0.1", "0")).unwrap();
    ledger.open_in_slot("part", "plan", "north", &budget(FilterKind::Sums, "0.1", "0")).unwrap();
    ledger.close("part").unwrap();
    let share = NewQuota::Cost { epsilon: amount("0.5"), delta: amount("0") };
    ledger.add_quota("sums", "ann", &share).unwrap();
    ledger.add_quota("sums", "bob", &NewQuota::Share(amount("0.6"))).unwrap();
    let half = |ledger: &mut Ledger, tag: &str| {
        let gaussian = described(r#"{"mechanism":"gaussian","sigma":40}"#);
        let (ages, tenth, little) = (slot("ages", 2), release("0.1"), release("0.01"));
        for (account, asked, analyst) in [
            ("plan", &ages, None),
            ("inner", &little, None),
            ("sums", &tenth, Some("ann")),
            ("sums", &tenth, Some("bob")),
            ("renyi", &gaussian, None),
        ] {
            let key = format!("{account}-{}-{tag}", analyst.unwrap_or("all"));
            let alias = analyst.map(|_| Hash::of(tag.as_bytes()));
            ledger
                .reserve(&Request { analyst, alias, ..Request::new(account, &key, asked) })
                .unwrap();
            if account != "renyi" {
                ledger.commit(account, &key, key.repeat(3).as_bytes()).unwrap();
            }
        }
        let key = format!("session-{tag}");
        ledger.reserve(&Request { session: true, ..Request::new("renyi", &key, &tenth) }).unwrap();
        ledger.begin_session("renyi", &key, b"toy", &[1; 40]).unwrap();
        for (after, ask) in ["one", "two"].into_iter().enumerate() {
            let (response, state) = (format!("{ask} {tag}"), &[after as u8; 40]);
            let last = tag == "first" && ask == "two";
            let new = NewAnswer { state, ..new_answer(ask, after as u64, &response, last) };
            ledger.store_answer("renyi", &key, &new).unwrap();
        }
    };
    half(&mut ledger, "first");
    drop(ledger);
    let before = place.folder.as_ref().map(|_| std::fs::read(place.file()).unwrap());
    let mut ledger = place.open();
    half(&mut ledger, "second");
    (before, ledger.head().unwrap())
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

/// A handle that lets anything be written that the tables' types allow.
pub(crate) fn forge(place: &Place) -> Box<dyn Database> {
    let mut database = place.url().open(false).unwrap();
    let settings: &[&str] = match database.dialect() {
        Dialect::Sqlite => &[
            "PRAGMA synchronous = OFF",
            "PRAGMA foreign_keys = OFF",
            "PRAGMA ignore_check_constraints = ON",
        ],
        // No triggers, no references.
        Dialect::Postgres => &["SET session_replication_role = replica"],
    };
    for sql in settings {
        database.execute(sql, &[]).unwrap();
    }
    database
}

/// The triggers that keep entries in SQLite as they are. On a server forged rows meet none.
const GUARDS: [(&str, &str, &str); 2] = [
    ("ledger_entry_kept", "DELETE", "entries are never deleted"),
    ("ledger_entry_fixed", "UPDATE", "entries are never changed"),
];

/// Takes away what stands in the way of somebody who owns the database.
pub(crate) fn unguard(database: &mut dyn Database) {
    if database.dialect() != Dialect::Sqlite {
        return;
    }
    for (name, _, _) in GUARDS {
        database.execute(&format!("DROP TRIGGER {name}"), &[]).unwrap();
    }
}

/// Puts it back, so that nothing but rows tells.
pub(crate) fn guard(database: &mut dyn Database) {
    if database.dialect() != Dialect::Sqlite {
        return;
    }
    for (name, action, problem) in GUARDS {
        let raise = format!("BEGIN SELECT RAISE(ABORT, '{problem}'); END");
        let sql = format!("CREATE TRIGGER {name} BEFORE {action} ON ledger_entry {raise}");
        database.execute(&sql, &[]).unwrap();
    }
}

/// The newest entry's body changed, and everything after it made to fit; what is found wrong.
pub(crate) fn forge_last(place: &Place, change: &dyn Fn(&str) -> String) -> String {
    let mut database = forge(place);
    let sql = "SELECT sequence, previous, body FROM ledger_entry ORDER BY sequence DESC LIMIT 1";
    let rows = database.query(sql, &[]).unwrap();
    let [Cell::Whole(sequence), Cell::Bytes(previous), Cell::Text(body)] = &rows[0][..] else {
        panic!("{rows:?}")
    };
    let forged = change(body);
    assert_ne!(forged, *body);
    let before = Head {
        sequence: *sequence as u64 - 1,
        hash: Hash(previous.as_slice().try_into().unwrap()),
    };
    let hash = Cell::Bytes(before.then(&forged).hash.0.to_vec());
    database.begin(Access::Write).unwrap();
    unguard(&mut *database);
    let sql = "UPDATE ledger_entry SET body = $1, hash = $2 WHERE sequence = $3";
    database.execute(sql, &[forged.as_str().into(), hash.clone(), (*sequence).into()]).unwrap();
    database.execute("UPDATE ledger_head SET hash = $1", &[hash]).unwrap();
    guard(&mut *database);
    database.commit().unwrap();
    place.open().verify(None).unwrap().problem.unwrap()
}

/// Everything that is stored, in an order of its own.
fn read(database: &mut dyn Database) -> Result<Rows, DatabaseError> {
    let table = |(table, columns): (&str, &str)| {
        let mut rows = database.query(&format!("SELECT {columns} FROM {table}"), &[])?;
        rows.sort_by_key(|row| format!("{row:?}"));
        Ok(rows)
    };
    TABLES.into_iter().map(table).collect()
}

/// Puts rows in the place of those that are there, in tables that differ.
fn write(database: &mut dyn Database, rows: &Rows) -> Result<(), DatabaseError> {
    database.begin(Access::Write)?;
    let stored = read(database)?;
    unguard(database);
    for ((table, columns), (rows, _)) in
        TABLES.into_iter().zip(rows.iter().zip(stored)).filter(|(_, (rows, old))| *rows != old)
    {
        database.execute(&format!("DELETE FROM {table}"), &[])?;
        let marks: Vec<String> =
            (1..=columns.split(',').count()).map(|mark| format!("${mark}")).collect();
        let sql = format!("INSERT INTO {table} ({columns}) VALUES ({})", marks.join(", "));
        for row in rows {
            database.execute(&sql, row)?;
        }
    }
    guard(database);
    database.commit()
}

/// A random change: flipped, deleted, swapped, inserted or cut off; in words.
fn change(all: &mut Rows, random: &mut Random) -> String {
    let at = random.below(TABLES.len() as u64) as usize;
    let (table, columns) = TABLES[at];
    let columns: Vec<&str> = columns.split(", ").collect();
    let rows = &mut all[at];
    let (one, two) = (pick(rows, random), pick(rows, random));
    let column = pick(&columns, random);
    let place = format!("{table}.{} of row {one}", columns[column]);
    match random.below(6) {
        0 | 1 => {
            let value = flipped(rows[one][column].clone(), random);
            rows[one][column] = value.clone();
            format!("{place} is now {value:?}")
        }
        2 => {
            rows.remove(one);
            format!("{table} row {one} deleted")
        }
        3 => {
            let cell = rows[one][column].clone();
            rows[one][column] = std::mem::replace(&mut rows[two][column], cell);
            format!("{place} and {two} swapped")
        }
        4 => {
            let fresh = |(name, cell): (&&str, &Cell)| match (*name, cell) {
                (
                    "sequence" | "reserved" | "opened" | "id" | "begun" | "number" | "entry",
                    Cell::Whole(n),
                ) => Cell::Whole(n + 1000),
                ("previous" | "hash", _) => Cell::Bytes(random.bits().to_be_bytes().repeat(4)),
                ("key" | "name" | "analyst" | "ask", Cell::Text(text)) => {
                    Cell::Text(format!("{text}x"))
                }
                // Unique, if it is there.
                ("committed" | "ended" | "closed", _) => Cell::Null,
                (_, cell) => cell.clone(),
            };
            let mut copy: Row = columns.iter().zip(&rows[one]).map(fresh).collect();
            if at == RELEASES {
                copy[7] = Cell::Null;
            }
            rows.push(copy);
            format!("{table} row {one} copied")
        }
        _ => cut(all, random),
    }
}

fn pick<T>(list: &[T], random: &mut Random) -> usize {
    random.below(list.len() as u64) as usize
}

/// The newest entries gone, and head and keys as if they had never been.
fn cut(all: &mut Rows, random: &mut Random) -> String {
    let number = |cell: &Cell| match cell {
        Cell::Whole(number) => *number,
        _ => 0,
    };
    all[ENTRIES].sort_by_key(|row| number(&row[0]));
    let kept = all[ENTRIES].len() - 1 - random.below(5) as usize;
    all[ENTRIES].truncate(kept);
    let last = all[ENTRIES][kept - 1].clone();
    all[HEAD] = vec![vec![Cell::Whole(1), last[0].clone(), last[2].clone()]];
    for (table, column) in [(RELEASES, 5), (SESSIONS, 2), (ANSWERS, 5)] {
        all[table].retain(|row| number(&row[column]) <= kept as i64);
    }
    let sessions = all[SESSIONS].clone();
    all[STATES].retain(|row| sessions.iter().any(|session| session[..2] == row[..2]));
    format!("cut off after {kept}")
}

/// Another value, close by.
fn flipped(value: Cell, random: &mut Random) -> Cell {
    match value {
        Cell::Null => [Cell::Whole(7), Cell::Text("x".into()), Cell::Bytes(vec![1])]
            [random.below(3) as usize]
            .clone(),
        Cell::Whole(number) => {
            let by = 1 + random.below(3) as i64;
            Cell::Whole(if random.below(2) == 0 { number + by } else { number - by })
        }
        Cell::Text(text) => {
            let mut characters: Vec<char> = text.chars().collect();
            let at = random.below(characters.len().max(1) as u64) as usize;
            match random.below(3) {
                0 => characters.insert(at, '0'),
                1 if !characters.is_empty() => drop(characters.remove(at)),
                _ if characters.is_empty() => characters.push('1'),
                _ => characters[at] = if characters[at] == '1' { '2' } else { '1' },
            }
            Cell::Text(characters.into_iter().collect())
        }
        Cell::Bytes(mut bytes) => {
            let at = random.below(bytes.len().max(1) as u64) as usize;
            match bytes.get_mut(at) {
                Some(byte) => *byte ^= 1 << random.below(8),
                None => bytes.push(0),
            }
            Cell::Bytes(bytes)
        }
    }
}

/// Makes changes, one at a time, and has each found by verification with the head.
fn all_changes_are_found(place: &Place, changes: u64) {
    let (_, head) = rich(place);
    let mut database = forge(place);
    let original = read(&mut *database).unwrap();
    assert!(original.iter().all(|rows| !rows.is_empty()));
    assert!(!is_found(place, head), "nothing is wrong yet");
    let (mut random, mut done) = (Random::new(42), 0);
    while done < changes {
        let mut changed = original.clone();
        let what = change(&mut changed, &mut random);
        if write(&mut *database, &changed).is_err() {
            // What the database itself refuses is no change.
            database = forge(place);
            continue;
        }
        if read(&mut *database).unwrap() == original {
            continue;
        }
        assert!(is_found(place, head), "{what}");
        write(&mut *database, &original).unwrap();
        done += 1;
    }
    assert!(!is_found(place, head), "all is as it was");
}

/// Full: 10,000 changes. Quick: 250.
#[test]
fn every_change_to_the_stored_rows_is_found() {
    all_changes_are_found(&Place::sqlite(), size(10_000, 250));
}

/// Full: 1000 changes. Quick: 50.
#[test]
fn every_change_is_found_on_postgres() {
    let Some(place) = Place::postgres() else { return };
    all_changes_are_found(&place, size(1000, 50));
}

/// A key that nobody paid for, filed before every entry.
#[test]
fn a_key_before_the_first_entry_is_found() {
    for place in Place::all() {
        let (_, head) = rich(&place);
        let mut database = forge(&place);
        let original = read(&mut *database).unwrap();
        for reserved in [i64::MIN, i64::MIN + 1, -1, 0] {
            let mut changed = original.clone();
            let mut free = changed[RELEASES][0].clone();
            (free[0], free[5]) = (Cell::Text("free".to_owned()), Cell::Whole(reserved));
            (free[6], free[7]) = (Cell::Null, Cell::Null);
            changed[RELEASES].push(free);
            write(&mut *database, &changed).unwrap();
            assert!(is_found(&place, head), "{reserved}");
        }
        write(&mut *database, &original).unwrap();
        assert!(!is_found(&place, head), "all is as it was");
    }
}

#[test]
fn an_old_backup_is_found_by_the_expected_head_alone() {
    let (before, head) = rich(&Place::sqlite());
    let place = Place::sqlite();
    std::fs::write(place.file(), before.unwrap()).unwrap();
    let mut ledger = place.open();
    assert_eq!(ledger.verify(None).unwrap().problem, None);
    let problem = ledger.verify(Some(head)).unwrap().problem.unwrap();
    assert!(problem.contains("is expected and missing"), "{problem}");
    let nowhere = Head { sequence: 0, ..head };
    assert!(ledger.verify(Some(nowhere)).unwrap().problem.is_some(), "no history begins there");
    // It goes on, and gets as long as it was: still another history.
    while ledger.head().unwrap().sequence <= head.sequence {
        let key = format!("again-{}", ledger.head().unwrap().sequence);
        ledger.reserve(&Request::new("renyi", &key, &release("0.001"))).unwrap();
    }
    assert_eq!(ledger.verify(None).unwrap().problem, None);
    let problem = ledger.verify(Some(head)).unwrap().problem.unwrap();
    assert!(problem.contains("is not the expected entry"), "{problem}");
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

/// A handle knows an account's rule and the prices by it: they are of no use once the row says
/// something else.
#[test]
fn an_account_that_was_exchanged_under_a_handle_pays_for_nothing() {
    for change in ["rule = rule || ' '", "records = 2", "part = 'north'", "slot = 'first'"] {
        for place in Place::all() {
            let mut ledger = with_account(&place, "1");
            pay(&mut ledger, "a").unwrap();
            run(&place, &format!("UPDATE ledger_account SET {change} WHERE name = 'account'"));
            let error = pay(&mut ledger, "b").unwrap_err();
            let expected = "the account's rule has changed; legal: open the ledger again";
            assert_eq!(error, LedgerError::Damaged(expected.to_owned()), "{change}");
        }
    }
}

/// What a handle knew of an account's capacity is no licence: the database holds the row to what it says now.
#[test]
fn a_capacity_that_was_lowered_under_a_handle_binds() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        pay(&mut ledger, "a").unwrap();
        let lower = format!("{:040}.1", 0);
        run(
            &place,
            &format!("UPDATE ledger_account SET capacity_main = '{lower}' WHERE name = 'account'"),
        );
        assert!(pay(&mut ledger, "b").is_err());
    }
}

/// The last price is that of an account: the same release costs another what it costs there.
#[test]
fn prices_are_not_mixed_up_between_accounts() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "9");
        let zcdp = NewAccount::Filter(budget(FilterKind::Zcdp, "3", "1e-6"));
        ledger.open_account("concentrated", "data", &zcdp).unwrap();
        let (asked, mut charged) = (release("0.5"), Vec::new());
        for (key, account) in
            ["account", "concentrated", "account", "concentrated"].iter().enumerate()
        {
            let key = key.to_string();
            let reserved = ledger.reserve(&Request::new(account, &key, &asked)).unwrap();
            charged.push(reserved.charge.unwrap().main);
        }
        // epsilon, and at most epsilon^2/2.
        assert_eq!((&charged[0], &charged[2]), (&amount("0.5"), &amount("0.5")));
        assert!(charged[1] == charged[3] && charged[1] <= amount("0.125"), "{charged:?}");
    }
}

/// Somebody has the database swallow a write without an error: nothing is acknowledged.
#[test]
fn a_write_that_changes_nothing_is_not_acknowledged() {
    let swallowed =
        [("UPDATE", "ledger_account"), ("INSERT", "ledger_release"), ("UPDATE", "ledger_head")];
    for (action, table) in swallowed {
        for place in Place::all() {
            let mut ledger = with_account(&place, "1");
            let head = pay(&mut ledger, "a").unwrap();
            run(
                &place,
                &match place.url() {
                    Url::Sqlite(_) => format!(
                        "CREATE TRIGGER swallow BEFORE {action} ON {table} \
                         BEGIN SELECT RAISE(IGNORE); END"
                    ),
                    _ => {
                        format!("CREATE RULE swallow AS ON {action} TO {table} DO INSTEAD NOTHING")
                    }
                },
            );
            let error = pay(&mut ledger, "b").unwrap_err().to_string();
            // PostgreSQL is asked for the row that is written, which such a rule has none of.
            let is_found = ["did not change one row", "failed, nothing was written"];
            assert!(is_found.iter().any(|problem| error.contains(problem)), "{table}: {error}");
            drop(ledger);
            run(
                &place,
                &match place.url() {
                    Url::Sqlite(_) => "DROP TRIGGER swallow".to_owned(),
                    _ => format!("DROP RULE swallow ON {table}"),
                },
            );
            assert_eq!(place.open().head(), Ok(head), "{table}");
        }
    }
}

/// A statement by somebody who has the database itself.
fn run(place: &Place, sql: &str) {
    let mut database = place.url().open(false).unwrap();
    database.begin(Access::Write).unwrap();
    database.execute(sql, &[]).unwrap();
    database.commit().unwrap();
}
