//! Ledgers in programs with many threads, and in async ones.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use counterpoint_ledger::database::{Access, Cell, DatabaseError};
use counterpoint_ledger::{
    Head, Ledger, LedgerError, OpenOptions, Pool, Request, Reservation, Url,
};
use counterpoint_testing::{Proxy, run};
use tokio::runtime::{Builder, Runtime};

use crate::{Place, Random, amount, answer, assert_sound, pay, release, size, with_account};

fn pool(place: &Place, size: usize) -> Pool {
    Pool::new(&place.url(), &OpenOptions::default(), size).unwrap()
}

/// A release of 0.1 with its answer, each together with what other threads ask for.
fn pay_together(pool: &Pool, key: &str) -> Result<Head, LedgerError> {
    let tenth = release("0.1");
    pool.reserve(&Request::new("account", key, &tenth))?;
    Ok(pool.commit("account", key, answer(key).as_bytes())?.head)
}

/// Sixty-four threads, five handles, and a budget for exactly n. Full: 100 seeds. Quick: 2.
#[test]
fn a_pool_is_used_by_many_threads_at_once() {
    for seed in 0..size(100, 2) {
        for place in Place::all() {
            let n = 1 + Random::new(seed).below(24);
            drop(with_account(&place, &amount("0.1").times(n).to_string()));
            let (pool, barrier) = (&pool(&place, 5), &Barrier::new(64));
            let client = |index: u64| {
                barrier.wait();
                let key = format!("client-{index}");
                let paid = match index % 4 {
                    0 => pool.with(|ledger| pay(ledger, &key)),
                    _ => pay_together(pool, &key),
                };
                match paid {
                    Ok(_) => 1,
                    Err(LedgerError::Refused(_)) => 0,
                    Err(error) => panic!("{error}"),
                }
            };
            let admitted: u64 = std::thread::scope(|scope| {
                let clients: Vec<_> =
                    (0..64).map(|index| scope.spawn(move || client(index))).collect();
                clients.into_iter().map(|client| client.join().unwrap()).sum()
            });
            assert_eq!(admitted, n);
            assert_sound(&mut place.open());
        }
    }
}

#[test]
fn a_pool_has_a_size_and_a_ledger() {
    let place = Place::sqlite();
    let new = |size| Pool::new(&place.url(), &OpenOptions::default(), size).err();
    assert!(matches!(new(1), Some(LedgerError::Database(DatabaseError::Unusable(_)))));
    drop(with_account(&place, "1"));
    for size in [0, Pool::MAX_HANDLES + 1] {
        let problem = new(size).unwrap().to_string();
        assert_eq!(problem, format!("a pool of {size} handles; legal: 1 to {}", Pool::MAX_HANDLES));
    }
    assert!(new(1).is_none() && new(Pool::MAX_HANDLES).is_none());
}

/// Handles that stop are replaced once the ledger can be opened again.
#[test]
fn a_pool_replaces_a_handle_that_stopped() {
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let pool = pool(&place, 2);
    pool.with(|ledger| pay(ledger, "first")).unwrap();
    let other = place.file().with_file_name("other");
    std::fs::hard_link(place.file(), &other).unwrap();
    for _ in 0..3 {
        assert!(pool.with(|ledger| pay(ledger, "second")).is_err());
    }
    std::fs::remove_file(other).unwrap();
    pool.with(|ledger| pay(ledger, "second")).unwrap();
    // A panic within takes no handle away, nor leaves a transaction behind.
    for _ in 0..5 {
        let panics = || pool.with(|ledger| ledger.history(None, None, |_| panic!("by the caller")));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    }
    let both = pool.with(|_| pool.with(|ledger| pay(ledger, "third")));
    assert!(both.is_ok());
}

/// Ends the connections that are reading a schema's ledger.
fn terminate(place: &Place) {
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks \
               WHERE relation = to_regclass('ledger_entry') AND pid <> pg_backend_pid()";
    place.url().open(false).unwrap().query(sql, &[]).unwrap();
}

/// A connection that is lost within a transaction.
#[test]
fn a_lost_connection_is_an_error_and_is_replaced() {
    let Some(place) = Place::postgres() else { return };
    drop(with_account(&place, "1"));
    let pool = pool(&place, 1);
    let lost = pool.with(|ledger| {
        let told = ledger.history(None, None, |_| terminate(&place));
        assert!(matches!(told, Err(LedgerError::Database(DatabaseError::Failed(_)))), "{told:?}");
        assert!(ledger.is_stopped());
        told
    });
    assert!(lost.is_err());
    pool.with(|ledger| pay(ledger, "first")).unwrap();
}

fn runtimes() -> [Runtime; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
        .map(|mut builder| builder.build().unwrap())
}

/// Opens, uses and drops handles.
async fn use_in_a_task(place: Arc<Place>, name: String) {
    let mut ledger = Ledger::open(&place.url()).unwrap();
    pay(&mut ledger, &format!("{name}-1")).unwrap();
    let (mut ledger, name) = tokio::spawn(async move {
        pay(&mut ledger, &format!("{name}-2")).unwrap();
        (ledger, name)
    })
    .await
    .unwrap();
    tokio::task::yield_now().await;
    assert_sound(&mut ledger);
    let blocking = move || pay(&mut ledger, &format!("{name}-3")).map(drop);
    tokio::task::spawn_blocking(blocking).await.unwrap().unwrap();
    assert!(Ledger::init(&place.url()).is_err());
}

#[test]
fn a_ledger_is_opened_used_and_dropped_in_async_programs() {
    for place in Place::all() {
        drop(with_account(&place, "100"));
        let place = Arc::new(place);
        for (number, runtime) in runtimes().into_iter().enumerate() {
            // On the runtime's own thread, and on a worker's.
            runtime.block_on(use_in_a_task(Arc::clone(&place), format!("{number}-own")));
            let task = runtime.spawn(use_in_a_task(Arc::clone(&place), format!("{number}-worker")));
            runtime.block_on(task).unwrap();
        }
    }
}

#[test]
fn a_pool_is_shared_by_async_tasks() {
    for place in Place::all() {
        drop(with_account(&place, "1"));
        for runtime in runtimes() {
            let pool = Arc::new(pool(&place, 3));
            let admitted = runtime.block_on(async {
                let tasks: Vec<_> = (0..32)
                    .map(|index| {
                        let pool = Arc::clone(&pool);
                        let work = move |ledger: &mut Ledger| pay(ledger, &format!("task-{index}"));
                        tokio::task::spawn_blocking(move || pool.with(work).is_ok())
                    })
                    .collect();
                let mut admitted = 0;
                for task in tasks {
                    admitted += u64::from(task.await.unwrap());
                }
                // And without a thread for it: it blocks, and works.
                pool.with(Ledger::head).unwrap();
                drop(pool);
                admitted
            });
            // The second runtime finds the same keys, or none left.
            assert_eq!(admitted, 10);
        }
    }
}

/// A server that is not there, in an async program.
#[test]
fn a_ledger_that_cannot_be_opened_is_an_error_in_async_programs() {
    for runtime in runtimes() {
        let opened = runtime.block_on(async {
            let url = "postgres://nobody@127.0.0.1:1/nothing".parse().unwrap();
            Ledger::open(&url).map(drop)
        });
        assert!(matches!(opened, Err(LedgerError::Database(DatabaseError::Unusable(_)))));
    }
}

/// A pooler may give every transaction another session, with whatever others have set in it.
#[test]
fn every_transaction_that_writes_asks_for_durability_itself() {
    let Some(place) = Place::postgres() else { return };
    drop(with_account(&place, "1"));
    let url = format!("{}%20-csynchronous_commit%3Doff%20-clock_timeout%3D0", place.url);
    let mut database = url.parse::<counterpoint_ledger::Url>().unwrap().open(false).unwrap();
    let mut setting = |what: &str, name: &str| {
        if !what.is_empty() {
            database.execute(what, &[]).unwrap();
        }
        database.begin(Access::Write).unwrap();
        let sql = format!("SELECT current_setting('{name}')");
        let rows = database.query(&sql, &[]).unwrap();
        database.commit().unwrap();
        rows
    };
    for what in ["", "SET synchronous_commit = off", "RESET ALL", "SET lock_timeout = 0"] {
        let on = [[Cell::Text("on".to_owned())]];
        assert_eq!(setting(what, "synchronous_commit"), on, "{what}");
        assert_eq!(setting("", "lock_timeout"), [[Cell::Text("1min".to_owned())]], "{what}");
    }
    // Outside it is what others have set.
    let rows = database.query("SELECT current_setting('synchronous_commit')", &[]).unwrap();
    assert_eq!(rows, [[Cell::Text("off".to_owned())]]);
}

/// A ledger behind a network that delays what is said by so much each way.
fn behind(place: &Place, milliseconds: u64) -> (Proxy, Url) {
    let address = place.url.split(['@', '/']).nth(3).unwrap();
    let proxy = Proxy::start(address.parse().unwrap(), Duration::from_millis(milliseconds));
    let url = place.url.replace(address, &proxy.address().to_string()).parse().unwrap();
    (proxy, url)
}

/// The lock is taken in the first, with all that is read, and released in the second, with all that is written.
#[test]
fn a_debit_takes_two_round_trips_and_so_does_a_commit() {
    let Some(place) = Place::postgres() else { return };
    drop(with_account(&place, "1"));
    let (proxy, url) = behind(&place, 5);
    let mut ledger = Ledger::open(&url).unwrap();
    let tenth = release("0.1");
    let request = |key| Request { analyst: Some("ann"), ..Request::new("account", key, &tenth) };
    // Statements are prepared when they are first used.
    for _ in 0..2 {
        ledger.reserve(&request("first")).unwrap();
    }
    ledger.commit("account", "first", b"answer").unwrap();
    // Somebody else writes in between, so that the head that was seen is looked for.
    pay(&mut place.open(), "second").unwrap();
    let mut before = proxy.turns();
    let mut turns = || {
        let now = proxy.turns();
        now - std::mem::replace(&mut before, now)
    };
    ledger.reserve(&request("third")).unwrap();
    assert_eq!(turns(), 2);
    ledger.reserve(&request("third")).unwrap();
    assert_eq!(turns(), 2);
    ledger.commit("account", "third", b"answer").unwrap();
    assert_eq!(turns(), 2);
    assert_sound(&mut ledger);
}

/// A connection that is lost after the COMMIT was sent, together with the statements before it.
#[test]
fn a_commit_that_was_sent_and_not_answered_is_uncertain() {
    let Some(place) = Place::postgres() else { return };
    drop(with_account(&place, "1"));
    let (proxy, url) = behind(&place, 0);
    let mut ledger = Ledger::open(&url).unwrap();
    let mut server = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    server
        .batch_execute(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END';
             CREATE TRIGGER wait BEFORE INSERT ON ledger_release
                 FOR EACH ROW EXECUTE FUNCTION wait();
             SELECT pg_advisory_lock(42)",
        )
        .unwrap();
    let tenth = release("0.1");
    let request = Request::new("account", "key", &tenth);
    let lost = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ledger.reserve(&request));
        let waits =
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)";
        while !server.query_one(waits, &[]).unwrap().get::<_, bool>(0) {
            std::thread::sleep(Duration::from_millis(5));
        }
        proxy.cut();
        waiting.join().unwrap()
    });
    assert!(matches!(lost, Err(LedgerError::Database(DatabaseError::Uncertain(_)))), "{lost:?}");
    assert!(ledger.is_stopped());
    server.batch_execute("SELECT pg_advisory_unlock(42)").unwrap();
    server.batch_execute("DROP TRIGGER wait ON ledger_release").unwrap();
    // It took effect. The retry has to wait for the lock, and finds the debit.
    let found = place.open().reserve(&request).unwrap();
    assert_eq!(found.charge, None);
    let mut ledger = place.open();
    assert_eq!(ledger.status(Some("account")).unwrap().accounts[0].spent.main, amount("0.1"));
    assert_sound(&mut ledger);
}

/// A statement that fails, or changes nothing, although the COMMIT was sent with it.
#[test]
fn a_statement_that_does_not_do_what_it_should_undoes_the_transaction() {
    let Some(place) = Place::postgres() else { return };
    let mut ledger = with_account(&place, "1");
    let head = pay(&mut ledger, "first").unwrap();
    let mut server = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    let mut body = |body: &str| {
        let text = format!(
            "CREATE OR REPLACE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {body} END';
             CREATE OR REPLACE TRIGGER odd BEFORE UPDATE ON ledger_account
                 FOR EACH ROW EXECUTE FUNCTION odd()"
        );
        server.batch_execute(&text).unwrap();
    };
    // Whoever opens the ledger finds the trigger.
    let opened = || {
        run(&place.url, "DROP TRIGGER odd ON ledger_account");
        place.open()
    };
    body("RETURN NULL;");
    match pay(&mut ledger, "second") {
        Err(LedgerError::Damaged(problem)) => {
            assert!(problem.starts_with("UPDATE ledger_account"), "{problem}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((ledger.head(), ledger.is_stopped()), (Ok(head), false));
    let ends = "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NEW;";
    for text in ["RAISE EXCEPTION ''odd'';", ends] {
        body(text);
        let failed = pay(&mut ledger, "second");
        assert!(
            matches!(failed, Err(LedgerError::Database(DatabaseError::Failed(_)))),
            "{failed:?}"
        );
        assert!(ledger.is_stopped());
        ledger = opened();
        assert_eq!(ledger.head(), Ok(head));
    }
    pay(&mut ledger, "second").unwrap();
    assert_sound(&mut ledger);
}

/// Threads that ask for the same thing, for something else under the same key, and for too much.
#[test]
fn what_is_done_together_is_as_if_it_were_done_one_by_one() {
    for place in Place::all() {
        drop(with_account(&place, "0.35"));
        let pool = &pool(&place, 2);
        let (tenth, fifth) = (&release("0.1"), &release("0.2"));
        let ask = |thread: usize| {
            let asked = if thread.is_multiple_of(2) { tenth } else { fifth };
            pool.reserve(&Request::new("account", &format!("key-{}", thread % 6 / 2), asked))
        };
        let done: Vec<Result<Reservation, LedgerError>> = std::thread::scope(|scope| {
            let ask = &ask;
            let threads: Vec<_> = (0..60).map(|thread| scope.spawn(move || ask(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // Whoever came first under a key decided what it stands for; the others have it for nothing, or are told.
        let mut spent = amount("0");
        for key in 0..3 {
            let of_key: Vec<_> = (0..60).filter(|thread| thread % 6 / 2 == key).collect();
            let charged: Vec<_> = of_key
                .iter()
                .filter_map(|thread| done[*thread].as_ref().ok()?.charge.clone())
                .collect();
            assert!(charged.len() <= 1, "{done:?}");
            let Some(charge) = charged.first() else { continue };
            spent = &spent + &charge.main;
            for thread in of_key {
                let is_same = charge.main == amount(if thread % 2 == 0 { "0.1" } else { "0.2" });
                match &done[thread] {
                    Ok(_) => assert!(is_same, "{done:?}"),
                    Err(LedgerError::KeyInUse { .. }) => assert!(!is_same, "{done:?}"),
                    // It came before the one that was charged.
                    Err(LedgerError::Refused(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        let mut ledger = place.open();
        assert_eq!(ledger.status(Some("account")).unwrap().accounts[0].spent.main, spent);
        assert_sound(&mut ledger);
    }
}
