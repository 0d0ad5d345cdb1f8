//! What owners do once a ledger is in use, and who might gain by it.

use std::sync::Barrier;

use counterpoint::quantity::Order;
use counterpoint_ledger::database::{Access, Cell};
use counterpoint_ledger::{
    Checkpoint, FilterKind, Head, Ledger, LedgerError, NewAccount, NewFilter, NewQuota, Request,
    Transfer,
};
use counterpoint_wire::ledger::{Event, PromiseRecord};

use crate::tamper::forge;
use crate::{
    Place, add_remove, amount, assert_sound, budget, described, new_answer, plan, refused, release,
    slot, with_account,
};

fn open(ledger: &mut Ledger, name: &str, filter: NewFilter) -> Result<Head, LedgerError> {
    ledger.open_account(name, "data", &NewAccount::Filter(filter))
}

/// Two accounts of 0.5 that add up epsilons, of a data set of 1.
fn pair(place: &Place) -> Ledger {
    pair_of(place, "1")
}

fn pair_of(place: &Place, epsilon: &str) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", add_remove(), &budget(FilterKind::Sums, epsilon, "1e-5")).unwrap();
    for name in ["a", "b"] {
        open(&mut ledger, name, budget(FilterKind::Sums, "0.5", "1e-6")).unwrap();
    }
    ledger
}

fn give(key: &str, epsilon: &str) -> Transfer {
    Transfer::new("a", "b", key, amount(epsilon))
}

fn reserve(
    ledger: &mut Ledger,
    account: &str,
    key: &str,
    epsilon: &str,
) -> Result<(), LedgerError> {
    ledger.reserve(&Request::new(account, key, &release(epsilon))).map(drop)
}

#[track_caller]
fn unfit<T: std::fmt::Debug>(outcome: Result<T, LedgerError>, part: &str) {
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains(part), "{error}");
}

#[test]
fn a_closed_data_set_opens_and_reserves_nothing_and_what_is_paid_for_ends() {
    for place in Place::all() {
        let mut ledger = pair_of(&place, "3");
        let slots = r#"{"delta": 1e-6, "release": [
            {"name": "all", "mechanism": "approx-dp", "epsilon": 0.5, "count": 3}]}"#;
        ledger.open_account("plan", "data", &NewAccount::Plan(plan(slots), None)).unwrap();
        ledger.open_in_slot("inner", "plan", "all", &budget(FilterKind::Sums, "0.5", "0")).unwrap();
        ledger.add_dataset("other", add_remove(), &budget(FilterKind::Sums, "1", "0")).unwrap();
        reserve(&mut ledger, "a", "pending", "0.1").unwrap();
        let tenth = release("0.1");
        for key in ["begun", "later"] {
            let session = Request { session: true, ..Request::new("b", key, &tenth) };
            ledger.reserve(&session).unwrap();
        }
        ledger.begin_session("b", "begun", b"toy", &[1; 40]).unwrap();
        ledger.close("a").unwrap();
        // A name is an account's or a data set's, and neither closes the other by a slip.
        unfit(ledger.close("data"), "\"data\" is a data set");
        unfit(ledger.close_dataset("b"), "there is no data set \"b\"");
        unfit(ledger.close_dataset("dat"), "there is no data set \"dat\"");
        let head = ledger.close_dataset("data").unwrap();
        assert_eq!(ledger.close_dataset("data").unwrap(), head);
        for (account, asked) in
            [("a", &tenth), ("b", &tenth), ("plan", &slot("all", 1)), ("inner", &tenth)]
        {
            let outcome = ledger.reserve(&Request::new(account, "new", asked));
            unfit(outcome, &format!("{account:?} is closed"));
        }
        unfit(open(&mut ledger, "c", budget(FilterKind::Sums, "0.1", "0")), "\"data\" is closed");
        let within = ledger.open_in_slot("c", "plan", "all", &budget(FilterKind::Sums, "0.5", "0"));
        unfit(within, "\"plan\" is closed");
        unfit(ledger.add_quota("b", "ann", &NewQuota::Share(amount("1"))), "\"b\" is closed");
        unfit(ledger.move_budget(&give("m", "0.1")), "\"a\" is closed");
        // What was reserved gets its response, and sessions their answers.
        ledger.commit("a", "pending", b"42").unwrap();
        ledger.begin_session("b", "later", b"toy", &[1; 40]).unwrap();
        ledger.store_answer("b", "begun", &new_answer("q", 0, "yes", false)).unwrap();
        ledger.end_session("b", "begun").unwrap();
        let closed =
            |name: &str, ledger: &mut Ledger| ledger.status(Some(name)).unwrap().accounts[0].closed;
        assert!(closed("data", &mut ledger) && !closed("other", &mut ledger));
        assert_sound(&mut ledger);
    }
}

#[test]
fn quotas_change_from_now_on_and_what_is_spent_stays_spent() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let quota = |epsilon: &str| NewQuota::Cost { epsilon: amount(epsilon), delta: amount("0") };
        ledger.add_quota("account", "ann", &quota("0.5")).unwrap();
        unfit(ledger.add_quota("account", "ann", &quota("0.6")), "exists already");
        unfit(ledger.change_quota("account", "bob", &quota("0.6")), "no quota of analyst \"bob\"");
        let ask = |ledger: &mut Ledger, key: &str, epsilon: &str| {
            let asked = release(epsilon);
            let request = Request { analyst: Some("ann"), ..Request::new("account", key, &asked) };
            ledger.reserve(&request).map(drop)
        };
        ask(&mut ledger, "1", "0.3").unwrap();
        // Lower: below what is spent nothing is left.
        ledger.change_quota("account", "ann", &quota("0.4")).unwrap();
        refused(ask(&mut ledger, "2", "0.2"));
        ask(&mut ledger, "2", "0.1").unwrap();
        ledger.change_quota("account", "ann", &quota("0.1")).unwrap();
        let share = ledger.status(Some("account")).unwrap().accounts[0].quotas[0].clone();
        assert_eq!((share.capacity.main, share.spent.main), (amount("0.4"), amount("0.4")));
        refused(ask(&mut ledger, "3", "1e-9"));
        // Higher: more than the account is never had.
        ledger.change_quota("account", "ann", &quota("5")).unwrap();
        refused(ask(&mut ledger, "3", "0.7"));
        ask(&mut ledger, "3", "0.6").unwrap();
        assert_sound(&mut ledger);
    }
}

#[test]
fn late_quotas_count_what_was_spent_before() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let by = |ledger: &mut Ledger, who: Option<&str>, key: &str, epsilon: &str| {
            let asked = release(epsilon);
            ledger
                .reserve(&Request { analyst: who, ..Request::new("account", key, &asked) })
                .map(drop)
        };
        by(&mut ledger, Some("ann"), "1", "0.1").unwrap();
        by(&mut ledger, Some("ann"), "2", "0.1").unwrap();
        by(&mut ledger, Some("bob"), "3", "0.3").unwrap();
        by(&mut ledger, None, "4", "0.05").unwrap();
        let quota = |epsilon: &str| NewQuota::Cost { epsilon: amount(epsilon), delta: amount("0") };
        ledger.add_quota("account", "ann", &quota("0.25")).unwrap();
        // Bob spent more than his quota: nothing is left. Cleo spent nothing.
        ledger.add_quota("account", "bob", &quota("0.2")).unwrap();
        ledger.add_quota("account", "cleo", &quota("0.2")).unwrap();
        refused(by(&mut ledger, Some("ann"), "5", "0.06"));
        by(&mut ledger, Some("ann"), "5", "0.05").unwrap();
        refused(by(&mut ledger, Some("bob"), "6", "0.01"));
        by(&mut ledger, Some("cleo"), "7", "0.2").unwrap();
        unfit(by(&mut ledger, None, "8", "0.01"), "has quotas and no analyst is named");
        let quotas = ledger.status(Some("account")).unwrap().accounts.remove(0).quotas;
        let spent: Vec<String> = quotas.iter().map(|one| one.spent.main.to_string()).collect();
        assert_eq!(spent, ["0.25", "0.3", "0.2"]);
        assert_eq!(quotas.iter().map(|one| one.releases).collect::<Vec<_>>(), [3, 1, 1]);
        assert_sound(&mut ledger);
    }
}

#[test]
fn budget_moves_once_and_no_more_than_is_unspent() {
    for place in Place::all() {
        let mut ledger = pair(&place);
        reserve(&mut ledger, "a", "1", "0.2").unwrap();
        let promised = |ledger: &mut Ledger, name: &str| match ledger
            .status(Some(name))
            .unwrap()
            .accounts[0]
            .promise
            .clone()
        {
            PromiseRecord::ApproxDp { epsilon, delta } => (epsilon.to_string(), delta.to_string()),
            other => panic!("{other:?}"),
        };
        refused(ledger.move_budget(&give("m", "0.31")));
        refused(ledger.move_budget(&give("m", "0.1").with_delta(amount("2e-6"))));
        unfit(ledger.move_budget(&give("m", "0")), "gives nothing");
        let head = ledger.move_budget(&give("m", "0.25").with_delta(amount("1e-6"))).unwrap();
        // The same key again moves nothing; another amount under it is a mistake.
        let again = give("m", "0.25").with_delta(amount("1e-6"));
        assert_eq!(ledger.move_budget(&again).unwrap(), head);
        let other = ledger.move_budget(&give("m", "0.01")).unwrap_err();
        assert!(matches!(other, LedgerError::KeyInUse { .. }), "{other}");
        assert_eq!(promised(&mut ledger, "a"), ("0.25".to_owned(), "0".to_owned()));
        assert_eq!(promised(&mut ledger, "b"), ("0.75".to_owned(), "0.000002".to_owned()));
        refused(ledger.move_budget(&give("n", "0.06")));
        refused(reserve(&mut ledger, "a", "2", "0.06"));
        reserve(&mut ledger, "a", "2", "0.05").unwrap();
        refused(reserve(&mut ledger, "b", "3", "0.76"));
        reserve(&mut ledger, "b", "3", "0.75").unwrap();
        // Nothing is left to open, however budget was moved about.
        refused(open(&mut ledger, "c", budget(FilterKind::Sums, "0.01", "0")));
        assert_sound(&mut ledger);
    }
}

/// Where no theorem lets budget be moved, nothing is.
#[test]
fn budget_moves_only_where_the_data_sets_promise_is_the_same() {
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    let big = budget(FilterKind::Sums, "100", "0.01");
    for name in ["data", "other"] {
        ledger.add_dataset(name, add_remove(), &big).unwrap();
    }
    let with_order =
        |epsilon: &str, order: f64| order_of(budget(FilterKind::Renyi, epsilon, "1e-6"), order);
    open(&mut ledger, "sums", budget(FilterKind::Sums, "1", "1e-6")).unwrap();
    open(&mut ledger, "renyi", with_order("1", 40.0)).unwrap();
    open(&mut ledger, "renyi-2", with_order("2", 20.0)).unwrap();
    open(&mut ledger, "zcdp", budget(FilterKind::Zcdp, "1", "1e-6")).unwrap();
    open(&mut ledger, "gdp", budget(FilterKind::Gdp, "1", "1e-6")).unwrap();
    let slots = r#"{"delta": 1e-6, "release": [
        {"name": "s", "mechanism": "approx-dp", "epsilon": 0.5, "count": 4}]}"#;
    ledger.open_account("plan", "data", &NewAccount::Plan(plan(slots), None)).unwrap();
    ledger.open_in_slot("inner", "plan", "s", &budget(FilterKind::Sums, "0.5", "0")).unwrap();
    ledger.open_in_slot("inner-2", "plan", "s", &budget(FilterKind::Sums, "0.5", "0")).unwrap();
    let elsewhere = NewAccount::Filter(budget(FilterKind::Sums, "1", "0"));
    ledger.open_account("elsewhere", "other", &elsewhere).unwrap();
    let mut go = |from: &str, to: &str| {
        let key = format!("{from}-{to}");
        ledger.move_budget(&Transfer::new(from, to, &key, amount("0.1")))
    };
    for (from, to) in [
        ("sums", "zcdp"),
        ("zcdp", "sums"),
        ("gdp", "gdp"),
        ("sums", "gdp"),
        ("sums", "plan"),
        ("plan", "sums"),
        ("sums", "inner"),
        ("inner", "sums"),
        ("inner", "inner-2"),
        ("sums", "elsewhere"),
        ("sums", "sums"),
        ("zcdp", "gdp"),
    ] {
        let outcome = go(from, to);
        assert!(matches!(outcome, Err(LedgerError::Unfit { .. })), "{from} {to}: {outcome:?}");
    }
    unfit(go("sums", "data"), "is a data set");
    unfit(go("sums", "nobody"), "there is no account");
    for (from, to) in [("sums", "renyi"), ("renyi", "renyi-2"), ("renyi-2", "sums")] {
        go(from, to).unwrap();
    }
    assert_sound(&mut ledger);
    unfit(ledger.odometer("data"), "between which budget was moved");
    // Rho and divergences are what data sets that add them up were charged.
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", add_remove(), &budget(FilterKind::Zcdp, "3", "1e-6")).unwrap();
    let rho = PromiseRecord::Zcdp { rho: amount("0.02"), delta: amount("0") };
    for name in ["a", "b"] {
        open(&mut ledger, name, NewFilter::with_promise(FilterKind::Zcdp, rho.clone())).unwrap();
    }
    open(&mut ledger, "sums", budget(FilterKind::Sums, "0.1", "0")).unwrap();
    open(&mut ledger, "sums-2", budget(FilterKind::Sums, "0.1", "0")).unwrap();
    ledger.move_budget(&give("m", "0.015")).unwrap();
    let noise = described(r#"{"mechanism":"zcdp","rho":0.035}"#);
    ledger.reserve(&Request::new("b", "k", &noise)).unwrap();
    refused(ledger.move_budget(&give("n", "0.006")));
    // Promises of epsilons are not what they were charged here.
    let between = Transfer::new("sums", "sums-2", "o", amount("0.05"));
    unfit(ledger.move_budget(&between), "cannot give budget to \"sums-2\"");
    assert_sound(&mut ledger);
}

fn order_of(filter: NewFilter, order: f64) -> NewFilter {
    let mut filter = filter;
    filter.order = Some(Order::new(order).unwrap());
    filter
}

/// In a Rényi account divergence and the sum of pure epsilons move together, so that neither way is left to spend twice.
#[test]
fn both_totals_of_a_renyi_account_move() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("data", add_remove(), &budget(FilterKind::Sums, "3", "1e-4")).unwrap();
        for name in ["a", "b"] {
            open(&mut ledger, name, order_of(budget(FilterKind::Renyi, "1", "1e-6"), 40.0))
                .unwrap();
        }
        reserve(&mut ledger, "a", "1", "0.4").unwrap();
        ledger.move_budget(&give("m", "0.3")).unwrap();
        refused(reserve(&mut ledger, "a", "2", "0.31"));
        reserve(&mut ledger, "a", "2", "0.3").unwrap();
        refused(reserve(&mut ledger, "b", "3", "1.31"));
        reserve(&mut ledger, "b", "3", "1.3").unwrap();
        let told = |ledger: &mut Ledger, name: &str| {
            let status = ledger.status(Some(name)).unwrap().accounts.remove(0);
            (status.capacity.pure.unwrap().to_string(), status.spent.pure.unwrap().to_string())
        };
        assert_eq!(told(&mut ledger, "a"), ("0.7".to_owned(), "0.7".to_owned()));
        assert_eq!(told(&mut ledger, "b"), ("1.3".to_owned(), "1.3".to_owned()));
        refused(ledger.move_budget(&Transfer::new("b", "a", "back", amount("0.001"))));
        assert_sound(&mut ledger);
    }
}

/// Sixty-four threads reserve in one account, move its budget to the other, and reserve there: all together never have
/// more than both had.
#[test]
fn nobody_gains_by_racing_a_move() {
    for place in Place::all() {
        drop(pair(&place));
        let barrier = Barrier::new(64);
        let one = |index: usize| {
            let mut ledger = place.open();
            let key = format!("k{index}");
            barrier.wait();
            let outcome = match index % 4 {
                0 => ledger.move_budget(&give(&key, "0.05")).map(|_| 0),
                1 => ledger.move_budget(&Transfer::new("b", "a", &key, amount("0.05"))).map(|_| 0),
                2 => reserve(&mut ledger, "a", &key, "0.05").map(|()| 1),
                _ => reserve(&mut ledger, "b", &key, "0.05").map(|()| 1),
            };
            match outcome {
                Ok(count) => count,
                Err(LedgerError::Refused(_)) => 0,
                Err(error) => panic!("{error}"),
            }
        };
        let admitted: u64 = std::thread::scope(|scope| {
            let one = &one;
            let threads: Vec<_> = (0..64).map(|index| scope.spawn(move || one(index))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let mut ledger = place.open();
        let accounts = ledger.status(None).unwrap().accounts;
        let sum = |pick: &dyn Fn(
            &counterpoint_wire::ledger::AccountStatus,
        ) -> counterpoint_budget::Amount| {
            accounts[1..].iter().fold(amount("0"), |sum, account| &sum + &pick(account))
        };
        assert_eq!(sum(&|account| account.capacity.main.clone()), amount("1"));
        assert_eq!(sum(&|account| account.spent.main.clone()), amount("0.05").times(admitted));
        assert!(admitted <= 20);
        assert_sound(&mut ledger);
    }
}

/// What is found of a history with one more entry that nobody wrote: from the first entry, and from a checkpoint before it.
fn forged(place: &Place, event: &Event) -> [Option<String>; 2] {
    let checkpoint = place.open().verify_from(None, None).unwrap().1.unwrap();
    let checkpoint = Checkpoint::read(&checkpoint.text()).unwrap();
    let head = checkpoint.head();
    let body = event.body().unwrap();
    let next = head.then(&body);
    let mut database = forge(place);
    database.begin(Access::Write).unwrap();
    let number = |sequence: u64| Cell::Whole(sequence.cast_signed());
    let entry = [
        number(next.sequence),
        Cell::Bytes(head.hash.0.to_vec()),
        Cell::Bytes(next.hash.0.to_vec()),
        event.account().unwrap().into(),
        body.as_str().into(),
    ];
    let insert = "INSERT INTO ledger_entry (sequence, previous, hash, account, body) \
                  VALUES ($1, $2, $3, $4, $5)";
    database.execute(insert, &entry).unwrap();
    let moved = [number(next.sequence), Cell::Bytes(next.hash.0.to_vec())];
    database.execute("UPDATE ledger_head SET sequence = $1, hash = $2", &moved).unwrap();
    database.commit().unwrap();
    drop(database);
    [None, Some(&checkpoint)].map(|from| place.open().verify_from(from, None).unwrap().0.problem)
}

/// What only the history says is kept in a checkpoint: what was spent before a quota, and the keys of moves.
#[test]
fn what_owners_do_is_verified_from_a_checkpoint() {
    for place in Place::all() {
        let mut ledger = pair(&place);
        let tenth = release("0.1");
        for analyst in ["ann", "bob"] {
            let one = Request { analyst: Some(analyst), ..Request::new("a", analyst, &tenth) };
            ledger.reserve(&one).unwrap();
        }
        ledger.move_budget(&give("m", "0.1")).unwrap();
        let kept = ledger.verify_from(None, None).unwrap().1.unwrap();
        let kept = Checkpoint::read(&kept.text()).unwrap();
        ledger.add_quota("a", "ann", &NewQuota::Share(amount("0.5"))).unwrap();
        ledger.move_budget(&give("n", "0.1")).unwrap();
        let (found, next) = ledger.verify_from(Some(&kept), None).unwrap();
        assert_eq!(found.problem, None);
        assert_eq!(next, ledger.verify_from(None, None).unwrap().1);
        // A quota of bob's is told of what bob spent, two checkpoints before.
        ledger.add_quota("a", "bob", &NewQuota::Share(amount("0.5"))).unwrap();
        ledger.close_dataset("data").unwrap();
        assert_eq!(ledger.verify_from(next.as_ref(), None).unwrap().0.problem, None);
    }
}

/// Entries that nobody could have written are found, whatever the balances say.
#[test]
fn forged_entries_of_owners_are_found() {
    let cost =
        |main: &str| counterpoint_wire::ledger::Cost { main: amount(main), ..Default::default() };
    let transfer = |account: &str, to: &str, key: &str, main: &str| {
        let (account, to, key) = (account.to_owned(), to.to_owned(), key.to_owned());
        Event::Move { at: 1, account, to, key, amount: cost(main) }
    };
    let quota = |analyst: &str, main: &str, changed: bool| Event::Quota {
        at: 1,
        account: "a".to_owned(),
        analyst: analyst.to_owned(),
        capacity: cost(main),
        changed,
    };
    let close = |account: &str| Event::Close { at: 1, account: account.to_owned() };
    for (event, problem) in [
        // More than is unspent; the same key; to oneself; from a closed one; nothing.
        (transfer("a", "b", "new", "0.31"), "is asked for and"),
        (transfer("a", "b", "m", "0.01"), "the key was used for an earlier transfer"),
        (transfer("a", "a", "new", "0.01"), "is not another account"),
        (transfer("c", "b", "new", "0.01"), "is closed"),
        (transfer("a", "c", "new", "0.01"), "is closed"),
        (transfer("a", "b", "new", "0"), "gives nothing"),
        (transfer("a", "data", "new", "0.01"), "its account did not exist"),
        // A quota below what is spent, or of one who has none, or has one.
        (quota("ann", "0.05", true), "more is spent than the quota allows"),
        (quota("bob", "0.05", true), "the analyst had no quota"),
        (quota("ann", "0.5", false), "the analyst had a quota"),
        // A data set whose accounts are open, or twice.
        (close("data"), "an account of the data set is open"),
        (close("c"), "closed before"),
    ] {
        for place in Place::all() {
            let mut ledger = pair_of(&place, "2");
            open(&mut ledger, "c", budget(FilterKind::Sums, "0.5", "0")).unwrap();
            ledger.close("c").unwrap();
            ledger.move_budget(&give("m", "0.1")).unwrap();
            let tenth = release("0.1");
            let ann = Request { analyst: Some("ann"), ..Request::new("a", "1", &tenth) };
            ledger.reserve(&ann).unwrap();
            ledger.add_quota("a", "ann", &NewQuota::Share(amount("0.5"))).unwrap();
            drop(ledger);
            for found in forged(&place, &event) {
                let found = found.unwrap_or_default();
                assert!(found.contains(problem), "{event:?}: {found}");
            }
        }
    }
    // A capacity that no entry gave.
    let place = Place::sqlite();
    drop(pair(&place));
    let mut database = forge(&place);
    database.begin(Access::Write).unwrap();
    let more = "UPDATE ledger_account SET capacity_main = '0000000000000000000000000000000000000009' \
                WHERE name = 'a'";
    database.execute(more, &[]).unwrap();
    database.commit().unwrap();
    drop(database);
    let found = place.open().verify(None).unwrap().problem.unwrap();
    assert!(found.contains("the balance of \"a\""), "{found}");
}
