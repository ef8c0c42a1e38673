//! What compaction folds into a checkpoint: whole older rounds, or turns where one round fills the window.
//! Deliberately only the choice: who writes the checkpoint, and how it reads, is the harness's.

use crate::message::{Message, Part, Role};

/// What shall stay verbatim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldGoal {
    /// At most so many whole rounds.
    pub preserve_rounds: usize,
    /// In at most so many estimated tokens, the newest turn aside, which always stays.
    pub room_tokens: usize,
}

/// What is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Messages before this one leave the window.
    pub until: usize,
    /// Except this one: the user message of the round that the fold ends inside of.
    pub opening: Option<usize>,
    /// Whole rounds folded.
    pub rounds: usize,
    /// Turns folded, of whole rounds or not.
    pub turns: usize,
}

impl Fold {
    /// Whether the message of that number leaves the window.
    pub fn folds(&self, index: usize) -> bool {
        index < self.until && Some(index) != self.opening
    }
}

/// Chooses what to fold; `None` when nothing can be.
///
/// `tokens` is the estimate of each message. The first `carried` messages are a checkpoint of before: they
/// are folded into the next, and are no round. A round begins with a user message that is more than
/// tool results. The newest rounds stay as far as the goal has room; where not even the last one has, its
/// newest turns stay together with the message that opened it. Calls are never parted from their results.
pub fn fold(
    messages: &[Message],
    tokens: &[usize],
    carried: usize,
    goal: &FoldGoal,
) -> Option<Fold> {
    let starts: Vec<usize> = (carried..messages.len())
        .filter(|&index| opens_round(&messages[index]))
        .collect();
    let last = *starts.last()?;
    let size = |from: usize, to: usize| -> usize { tokens[from..to].iter().sum() };
    let mut kept = size(last, messages.len());
    let mut fold = if kept > goal.room_tokens {
        let until = newest_turns(messages, tokens, last, goal.room_tokens);
        Fold {
            until,
            opening: (until > last).then_some(last),
            rounds: 0,
            turns: 0,
        }
    } else {
        let mut until = last;
        for (count, &start) in starts.iter().rev().skip(1).enumerate() {
            kept += size(start, until);
            if count + 2 > goal.preserve_rounds || kept > goal.room_tokens {
                break;
            }
            until = start;
        }
        Fold {
            until,
            opening: None,
            rounds: 0,
            turns: 0,
        }
    };
    let whole = fold.opening.unwrap_or(fold.until);
    fold.rounds = starts.iter().filter(|&&start| start < whole).count();
    fold.turns = messages[..fold.until]
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .count();
    let anything = (carried..fold.until).any(|index| fold.folds(index));
    anything.then_some(fold)
}

fn opens_round(message: &Message) -> bool {
    let says = |part: &Part| !matches!(part, Part::Result(_));
    message.role == Role::User && message.parts.iter().any(says)
}

/// The first message of the newest turns that fit beside the round's opening; at least one turn.
fn newest_turns(messages: &[Message], tokens: &[usize], opening: usize, room: usize) -> usize {
    let mut until = opening;
    let mut kept = tokens[opening];
    let mut end = messages.len();
    for start in (opening + 1..messages.len()).rev() {
        if messages[start].role != Role::Assistant {
            continue;
        }
        kept += tokens[start..end].iter().sum::<usize>();
        if until > opening && kept > room {
            break;
        }
        until = start;
        end = start;
    }
    // All of it fits but for its opening, or there is no turn: then only what is before goes.
    if until == opening + 1 { opening } else { until }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ToolCall, ToolResult};

    /// `u` user, `c` a call, `r` its result, `a` an answer.
    fn messages(shape: &str) -> Vec<Message> {
        let message = |role, part| Message {
            role,
            parts: vec![part],
        };
        shape
            .chars()
            .map(|kind| match kind {
                'u' => message(Role::User, Part::Text("do".into())),
                'a' => message(Role::Assistant, Part::Text("done".into())),
                'c' => message(
                    Role::Assistant,
                    Part::Call(ToolCall {
                        id: None,
                        name: "read".into(),
                        arguments: String::new(),
                    }),
                ),
                _ => message(Role::Tool, Part::Result(ToolResult::default())),
            })
            .collect()
    }

    #[track_caller]
    fn check(
        shape: &str,
        carried: usize,
        rounds: usize,
        room: usize,
        expect: Option<(usize, Option<usize>, usize, usize)>,
    ) {
        let messages = messages(shape);
        let goal = FoldGoal {
            preserve_rounds: rounds,
            room_tokens: room,
        };
        // Every message weighs 10.
        let got = fold(&messages, &vec![10; messages.len()], carried, &goal);
        let got = got.map(|fold| (fold.until, fold.opening, fold.rounds, fold.turns));
        assert_eq!(got, expect, "{shape}");
    }

    #[test]
    fn whole_older_rounds_go_first() {
        check("uauaua", 0, 2, 1_000, Some((2, None, 1, 1)));
        check("uauaua", 0, 6, 1_000, None);
        // Fewer than asked for where they do not fit.
        check("uauaua", 0, 6, 39, Some((4, None, 2, 2)));
        check("ucrauaua", 0, 6, 40, Some((4, None, 1, 2)));
        check("", 0, 6, 40, None);
        check("a", 0, 6, 40, None);
    }

    #[test]
    fn a_round_that_fills_the_window_loses_its_oldest_turns() {
        check("ucrcrcr", 0, 6, 30, Some((5, Some(0), 0, 2)));
        check("ucrcrcr", 0, 6, 50, Some((3, Some(0), 0, 1)));
        check("uaucrcr", 0, 6, 30, Some((5, Some(2), 1, 2)));
        // Parallel results stay with their calls, and the newest turn stays whatever it weighs.
        check("ucrrrcrrr", 0, 6, 10, Some((5, Some(0), 0, 1)));
        check("ucrrr", 0, 6, 10, None);
        check("uaucrrr", 0, 6, 10, Some((2, None, 1, 1)));
        check("uau", 0, 6, 5, Some((2, None, 1, 1)));
    }

    #[test]
    fn a_checkpoint_is_carried_on_and_is_no_reason_to_fold() {
        check("uua", 1, 6, 1_000, None);
        check("uuaua", 1, 1, 1_000, Some((3, None, 1, 1)));
        check("uucrcr", 1, 6, 30, Some((4, Some(1), 0, 1)));
        check("uucr", 1, 6, 10, None);
    }

    #[test]
    fn what_is_folded_is_told_message_by_message() {
        let fold = Fold {
            until: 5,
            opening: Some(2),
            rounds: 1,
            turns: 2,
        };
        let folded: Vec<usize> = (0..7).filter(|&index| fold.folds(index)).collect();
        assert_eq!(folded, [0, 1, 3, 4]);
    }
}
