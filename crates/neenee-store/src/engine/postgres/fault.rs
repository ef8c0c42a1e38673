//! What went wrong between us and the server, and what that means for the one who asked.
//! Deliberately apart from `StoreError`: here it still matters whether to try again.

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::error::StoreError;

/// Why a piece of work did not end.
#[derive(Debug)]
pub(super) enum Fault {
    /// The store's own reason.
    Store(StoreError),
    /// No connection could be made.
    Connect(String, Option<SqlState>),
    /// The server or the connection, before anything was committed.
    Server(Error),
    /// No answer in time, before anything was committed.
    Slow,
    /// The connection went while it committed: it may have happened or not.
    Unknown,
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Fault::Store(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Server(error)
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => {
                let code = error.code().cloned();
                Fault::Connect(connecting(&error), code)
            }
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
                Fault::Connect("all connections are busy".to_owned(), None)
            }
            PoolError::Timeout(_) => {
                Fault::Connect("the server does not answer in time".to_owned(), None)
            }
            other => Fault::Connect(other.to_string(), None),
        }
    }
}

impl Fault {
    /// Whether the same work may well succeed at once. Nothing of it was committed.
    pub(super) fn at_once(&self) -> bool {
        match self {
            Fault::Server(error) => {
                lost(error)
                    || matches!(
                        error.code(),
                        Some(
                            &SqlState::T_R_SERIALIZATION_FAILURE
                                | &SqlState::T_R_DEADLOCK_DETECTED
                                // A sweep took a body that was about to be used: it is written anew.
                                | &SqlState::FOREIGN_KEY_VIOLATION
                        )
                    )
            }
            _ => false,
        }
    }

    /// Whether the constraint called `name` refused a row.
    pub(super) fn violates(&self, name: &str) -> bool {
        let Fault::Server(error) = self else {
            return false;
        };
        error
            .as_db_error()
            .is_some_and(|error| error.constraint() == Some(name))
    }

    pub(super) fn code(&self) -> Option<&SqlState> {
        match self {
            Fault::Server(error) => error.code(),
            Fault::Connect(_, code) => code.as_ref(),
            _ => None,
        }
    }

    /// One sentence, without its end.
    pub(super) fn cause(&self) -> String {
        match self {
            Fault::Store(error) => error.to_string(),
            Fault::Connect(cause, _) => cause.clone(),
            Fault::Server(error) if lost(error) => "the connection to the server was lost".to_owned(),
            Fault::Server(error) => said(error),
            Fault::Slow => "the server did not answer in time".to_owned(),
            Fault::Unknown => {
                "the connection to the server was lost while it committed; resume the session to see \
                 whether it did"
                    .to_owned()
            }
        }
    }

    fn transient(&self) -> bool {
        match self {
            Fault::Store(error) => error.is_transient(),
            Fault::Connect(_, code) => !code.as_ref().is_some_and(|code| {
                // Wrong password, no such database, not allowed.
                ["28", "3D", "42"]
                    .iter()
                    .any(|class| code.code().starts_with(class))
            }),
            Fault::Server(error) => {
                self.at_once()
                    || error.code().is_some_and(|code| {
                        // Resources (a full disk among them), the operator, read-only while another takes over.
                        code.code().starts_with("53")
                            || code.code().starts_with("57")
                            || *code == SqlState::READ_ONLY_SQL_TRANSACTION
                            || *code == SqlState::LOCK_NOT_AVAILABLE
                    })
            }
            Fault::Slow | Fault::Unknown => true,
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Store(error) => error,
            fault => StoreError::Engine {
                cause: fault.cause(),
                retry: fault.transient(),
            },
        }
    }
}

/// Whether the connection is of no use any more.
pub(super) fn lost(error: &Error) -> bool {
    match error.code() {
        Some(code) => {
            // Connection exceptions, and a server that shuts down or was told to end this one.
            code.code().starts_with("08") || code.code().starts_with("57P")
        }
        // Not the server's word: the client's end of the line. A value it cannot send is no such.
        None => error.is_closed() || source_is_io(error),
    }
}

fn source_is_io(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>())
}

fn said(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) if *error.code() == SqlState::DISK_FULL => {
            "the disk of the server is full".to_owned()
        }
        Some(error) if *error.code() == SqlState::READ_ONLY_SQL_TRANSACTION => {
            "the server is read-only".to_owned()
        }
        Some(error) => error.message().to_owned(),
        None => with_sources(error),
    }
}

/// Why no connection came about. The client's errors hold no password.
fn connecting(error: &Error) -> String {
    match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            format!("the server does not let this user in: {}", said(error))
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => {
            format!("{}; create it first", said(error))
        }
        Some(_) => said(error),
        None if source_is_io(error) => {
            format!("no server answers there: {}", innermost(error))
        }
        None => with_sources(error),
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => innermost(source),
        None => error.to_string(),
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let (own, inner) = (error.to_string(), innermost(error));
    if own.contains(&inner) {
        own
    } else {
        format!("{own}: {inner}")
    }
}
