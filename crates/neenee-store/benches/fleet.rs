//! What one PostgreSQL server takes: appends by several writers, a large projection, a long list.
//! Deliberately no statistics library: the figures are of a server and a disk, not of a function.
//!
//! `NEENEE_TEST_POSTGRES=postgres://… cargo bench -p neenee-store --bench fleet`

use std::sync::Arc;
use std::time::{Duration, Instant};

use neenee_core::message::{Message, Part, Role, ToolCall, ToolResult};
use neenee_core::pressure::{PruneOptions, Setup, prune_with};
use neenee_store::clock::SystemClock;
use neenee_store::engine::postgres::Postgres;
use neenee_store::{Counts, NewSession, Operation, Origin, Projection, Session, SessionStore};

/// How long each number of writers writes.
const SPAN: Duration = Duration::from_secs(8);

/// The size of a result, in chars.
const RESULT: usize = 4_000;

fn main() {
    let Ok(admin) = std::env::var("NEENEE_TEST_POSTGRES") else {
        report("NEENEE_TEST_POSTGRES names no server");
        return;
    };
    for (stores, writers) in [(1, 1), (1, 8), (1, 32), (4, 32)] {
        let database = Database::new(&admin);
        appends(&database, stores, writers);
    }
    let database = Database::new(&admin);
    projection(&database);
    list(&database);
}

fn appends(database: &Database, stores: usize, writers: usize) {
    let stores: Vec<SessionStore> = (0..stores).map(|_| database.open()).collect();
    let mut sessions: Vec<(SessionStore, Session)> = (0..writers)
        .map(|writer| {
            let store = stores[writer % stores.len()].clone();
            let session = begun(&store);
            (store, session)
        })
        .collect();
    for (writer, (store, session)) in sessions.iter_mut().enumerate() {
        store
            .append(session, turn(writer << 32))
            .expect("the first append prepares the statements");
    }
    let (size, wal) = (database.size(), database.wal());
    let begin = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let running: Vec<_> = sessions
            .iter_mut()
            .enumerate()
            .map(|(writer, (store, session))| {
                scope.spawn(move || {
                    let mut times = Vec::new();
                    while begin.elapsed() < SPAN {
                        let messages = turn((writer << 32) + times.len() + 1);
                        let one = Instant::now();
                        store.append(session, messages).expect("appended");
                        times.push(one.elapsed());
                    }
                    times
                })
            })
            .collect();
        running
            .into_iter()
            .flat_map(|running| running.join().expect("no panic"))
            .collect()
    });
    let span = begin.elapsed().as_secs_f64();
    let (size, wal) = (database.size() - size, database.wal() - wal);
    times.sort_unstable();
    let (count, at) = (times.len(), |part: f64| {
        times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3
    });
    report(&format!(
        "{writers:>2} writers in {} processes' worth of connections: {:>6.0} appends/s, {:.2} ms \
         median, {:.2} ms p99; {:.0} bytes of database and {:.0} of WAL per append",
        stores.len(),
        count as f64 / span,
        at(0.5),
        at(0.99),
        size as f64 / count as f64,
        wal as f64 / count as f64,
    ));
}

fn projection(database: &Database) {
    let store = database.open();
    let mut times = Vec::new();
    for round in 0..7_usize {
        let mut session = begun(&store);
        let messages = (0..500).flat_map(|n| turn((round << 40) + n)).collect();
        store.append(&mut session, messages).expect("appended");
        let projection = prune(&session).expect("much to prune");
        let begin = Instant::now();
        let originals = projection.originals.len();
        store
            .commit_context_projection(&mut session, projection)
            .expect("committed");
        times.push((begin.elapsed(), originals));
        let id = session.id().to_string();
        drop(session);
        let begin = Instant::now();
        drop(store.resume(&id).expect("resumed"));
        report(&format!(
            "resumed in {:.1} ms",
            begin.elapsed().as_secs_f64() * 1e3
        ));
    }
    times.sort_unstable();
    report(&format!(
        "a projection of {} results of {RESULT} chars: {:.1} ms median",
        times[3].1,
        times[3].0.as_secs_f64() * 1e3
    ));
}

fn list(database: &Database) {
    let store = database.open();
    let sessions: Vec<Session> = std::thread::scope(|scope| {
        let making: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..1_250).map(|_| begun(&store)).collect::<Vec<_>>()))
            .collect();
        making
            .into_iter()
            .flat_map(|making| making.join().expect("no panic"))
            .collect()
    });
    let begin = Instant::now();
    let found = store.sessions().expect("listed").len();
    report(&format!(
        "a list of {found} sessions, {} held by this process: {:.1} ms",
        sessions.len(),
        begin.elapsed().as_secs_f64() * 1e3
    ));
    for _ in 0..3 {
        let (wal, begin) = (database.wal(), Instant::now());
        // The statement of a beat, on as many sessions.
        let touched = database.execute(
            "UPDATE neenee.session SET lease_until = clock_timestamp() + interval '15 s'
             WHERE id IN (SELECT id FROM neenee.session WHERE owner IS NOT NULL
                          FOR UPDATE SKIP LOCKED)",
        );
        report(&format!(
            "renewing {touched} leases: {:.1} ms, {} bytes of WAL",
            begin.elapsed().as_secs_f64() * 1e3,
            database.wal() - wal
        ));
    }
    let one = sessions[0].id().to_string();
    drop(sessions);
    let begin = Instant::now();
    drop(store.resume(&one).expect("resumed"));
    report(&format!(
        "resuming one of them: {:.1} ms",
        begin.elapsed().as_secs_f64() * 1e3
    ));
}

fn begun(store: &SessionStore) -> Session {
    store
        .create(NewSession::new(Origin::Agent))
        .expect("created")
}

/// A call and a result that no other number has.
fn turn(number: usize) -> Vec<Message> {
    let id = format!("call_{number}");
    let mut text = String::with_capacity(RESULT + 80);
    let mut state = number as u64 + 1;
    while text.len() < RESULT {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        text += &format!(
            "src/part{}.rs:{}: let value = {:x};\n",
            state >> 60,
            state >> 52,
            state >> 24
        );
    }
    text.truncate(RESULT);
    vec![
        Message {
            role: Role::Assistant,
            parts: vec![Part::Call(ToolCall {
                id: Some(id.clone()),
                name: "read".to_owned(),
                arguments: format!(r#"{{"path":"src/file{number}.rs"}}"#),
            })],
        },
        Message {
            role: Role::Tool,
            parts: vec![Part::Result(ToolResult {
                call_id: Some(id),
                text,
                failed: Some(false),
                ..ToolResult::default()
            })],
        },
    ]
}

fn prune(session: &Session) -> Option<Projection> {
    let mut window = session.window().to_vec();
    let setup = Arc::new(Setup::new(PruneOptions::bare(0, 0)));
    let outcome = prune_with(&mut window, &setup)?;
    let counts = |window: &[Message]| Counts {
        messages: window.len(),
        chars: 0,
        tokens: 0,
    };
    Some(Projection {
        base: session.revision(),
        operation: Operation::Prune,
        cause: "measured".to_owned(),
        before: counts(session.window()),
        after: counts(&window),
        window,
        originals: outcome.originals,
    })
}

/// A database that is gone afterwards.
struct Database {
    admin: String,
    name: String,
    address: String,
}

impl Database {
    fn new(admin: &str) -> Self {
        let name = format!("neenee_bench_{}", uuid::Uuid::now_v7().simple());
        let slash = admin.rfind('/').expect("an address with a database");
        let database = Database {
            admin: admin.to_owned(),
            address: format!("{}/{name}", &admin[..slash]),
            name,
        };
        query(admin, &format!("CREATE DATABASE {}", database.name));
        database
    }

    fn open(&self) -> SessionStore {
        let engine = Postgres::open(&self.address).expect("the database opens");
        SessionStore::new(Arc::new(engine), Arc::new(SystemClock))
    }

    fn execute(&self, sql: &str) -> u64 {
        connected(&self.address, async |client| {
            client.execute(sql, &[]).await.expect(sql)
        })
    }

    fn size(&self) -> i64 {
        query(&self.address, "SELECT pg_database_size(current_database())")
    }

    fn wal(&self) -> i64 {
        query(
            &self.address,
            "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::int8",
        )
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        query(
            &self.admin,
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}

/// The first number of the first row, or 0.
fn query(address: &str, sql: &str) -> i64 {
    connected(address, async |client| {
        client
            .query(sql, &[])
            .await
            .expect(sql)
            .first()
            .map_or(0, |row| row.get(0))
    })
}

fn connected<T>(address: &str, work: impl AsyncFnOnce(tokio_postgres::Client) -> T) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(async {
            let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls)
                .await
                .expect("the server answers");
            tokio::spawn(connection);
            work(client).await
        })
}

#[expect(clippy::print_stdout, reason = "a benchmark's result")]
fn report(line: &str) {
    println!("{line}");
}
