//! Recorded sessions walked again under a policy: what pruning keeps, saves and costs.
//! Deliberately no model and no I/O: a recording says what was used, nothing is asked of anybody.
//!
//! [`segments`] cuts the bytes of a session at its own compactions, [`Recording`] turns what was read
//! of each into turns with what every turn needed of earlier results, and [`replay`] sends the
//! requests again while a [`Policy`] projects the window.
//!
//! ```
//! use neenee_replay::{Ground, Marks, Params, Recording, Terms, policy, replay};
//!
//! let body = br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"},
//!     {"role":"assistant","content":"hello"}]}"#;
//! let document = neenee_wire::read(body, None).expect("a request body");
//! let ground = Ground::new(100_000);
//! let recording = Recording::new(&document, &ground, &mut Marks::default());
//! let mut none = policy::build("none", &Params::default(), &ground, &recording).expect("a policy");
//! let run = replay(&recording, &mut *none, &Terms::new(&ground));
//! assert_eq!(run.rows.len(), 1);
//! ```
#![forbid(unsafe_code)]

mod fenwick;
mod ground;
pub mod money;
mod needs;
mod params;
pub mod policy;
mod recording;
mod replay;
pub mod report;
mod segments;
mod session;
mod totals;
mod window;

pub use ground::Ground;
pub use money::Tariff;
pub use needs::{Need, NeedKind, Needs};
pub use params::{ParamError, Params};
pub use policy::Policy;
pub use recording::{Found, Marks, Recording, Turn};
pub use replay::{Miss, Row, Run, Terms, replay};
pub use segments::segments;
pub use session::{Comparison, Failed, Outcome, Session, Spec, compare};
pub use totals::{Corpus, Totals};
pub use window::{Edit, Held, Pruned, Window};
