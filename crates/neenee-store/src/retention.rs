//! Which sessions go: a plan that can be shown before anything is removed.
//! Deliberately a pure function of what it is told, the time included.

use jiff::{SignedDuration, Timestamp};

use crate::session::SessionInfo;

/// What is to be kept. Without any bound everything is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Sessions written to within this time stay, unless the size says otherwise.
    pub keep: Option<SignedDuration>,
    /// Raw size in bytes that all sessions together may have; the longest unused go first.
    pub max_bytes: Option<u64>,
}

/// What would be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionPlan {
    /// The sessions that go, the longest unused first.
    pub remove: Vec<Removal>,
    /// Sessions that would go if nobody were writing to them.
    pub in_use: Vec<SessionInfo>,
    /// How many sessions stay, those in use included.
    pub stay: usize,
}

/// A session that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The session.
    pub session: SessionInfo,
    /// Why.
    pub reason: RemovalReason,
    /// Forks that stay, and with them what they share.
    pub forks_stay: usize,
}

/// Why a session goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalReason {
    /// Not written to for longer than is kept.
    Old,
    /// To get below the size.
    Size,
}

impl std::fmt::Display for RemovalReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RemovalReason::Old => "unused for too long",
            RemovalReason::Size => "over the size",
        })
    }
}

/// What `retention` removes of `sessions` at the time `now`. Clocks jump: a session from the future
/// counts as just used.
pub fn plan(sessions: &[SessionInfo], retention: &Retention, now: Timestamp) -> RetentionPlan {
    let mut oldest_first: Vec<&SessionInfo> = sessions.iter().collect();
    oldest_first.sort_by_key(|session| (session.used, session.id));
    let mut bytes: u64 = sessions.iter().map(|session| session.bytes).sum();
    let mut plan = RetentionPlan::default();
    for session in oldest_first {
        let unused = now.duration_since(session.used);
        let reason = if retention.keep.is_some_and(|keep| unused > keep) {
            RemovalReason::Old
        } else if retention.max_bytes.is_some_and(|max| bytes > max) {
            RemovalReason::Size
        } else {
            plan.stay += 1;
            continue;
        };
        if session.holder.is_some() {
            plan.in_use.push(session.clone());
            plan.stay += 1;
            continue;
        }
        bytes -= session.bytes;
        plan.remove.push(Removal {
            session: session.clone(),
            reason,
            forks_stay: 0,
        });
    }
    let going: Vec<_> = plan
        .remove
        .iter()
        .map(|removal| removal.session.id)
        .collect();
    for removal in &mut plan.remove {
        removal.forks_stay = sessions
            .iter()
            .filter(|fork| {
                fork.parent
                    .is_some_and(|(parent, _)| parent == removal.session.id)
                    && !going.contains(&fork.id)
            })
            .count();
    }
    plan
}
