//! Ours with an eye on the prompt cache: a projection has to pay for the prefix that it breaks.
//! Deliberately the same ranking; only when it acts, and how much it takes at once, is different.
//!
//! Every edit makes what stands behind it be sent and written again. So a projection is made early, takes
//! much at once, and only when the tokens given back, times the requests that are still to come, times the
//! price of reading them, are worth more than writing again what stands behind the first edit. Where an
//! idle gap has made the cache cold, breaking it costs nothing. Over `hard` cost is no question.
//!
//! Parameters: those of `ours-ranked`, and `cold`, `hard` (fractions of the window), `requests` (that are
//! expected to come), `write_reads` (what a token written costs more than one read, in reads; 11.5 is
//! Anthropic's), `ttl_minutes`.

use super::Entry;
use super::ranked::{Defaults, Pays, Ranked};

pub(super) const ENTRY: Entry = Entry {
    name: "ours-cache-aware",
    about: "ranks too, and prunes when that pays for the cached prefix that it breaks",
    build: |params, ground, _| {
        let defaults = Defaults {
            trigger: 0.5,
            target: 0.3,
            reads: 0.6,
            floor: 10_000,
        };
        let pays = Pays {
            ttl: params.count("ttl_minutes", 5)? as i64 * 60_000,
            cold: ground.tokens(params.number("cold", 0.4)?),
            hard: ground.tokens(params.number("hard", ground.policy.compact_utilization)?),
            horizon: params.number("requests", 40.0)?,
            write_reads: params.number("write_reads", 11.5)?,
        };
        Ok(Box::new(Ranked::new(
            params,
            ground,
            &defaults,
            Some(pays),
        )?))
    },
};
