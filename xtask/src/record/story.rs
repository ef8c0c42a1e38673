//! What is asked and answered in a recording: rounds on the made-up shop, for any client.
//! Deliberately in no client's words; the turns themselves are in `rounds`.

mod rounds;

use super::shop::DEPARTMENTS;
use neenee_testkit::upstream::{Script, Turn};
use rounds::{
    COMPACTION, ERRAND, clamp, close, department, discount, errand, kitchen, labels, leaflet,
    stock, summary,
};

/// Rounds in order: what the person asks, and the turns that answer it.
pub(super) struct Story {
    rounds: Vec<(String, Vec<Turn>)>,
}

impl Story {
    /// Six rounds, about 40 turns.
    pub(super) fn usual() -> Self {
        Self {
            rounds: vec![discount(), clamp(), stock(), labels(), kitchen(), close()],
        }
    }

    /// Four rounds with a compaction between the second and the third.
    pub(super) fn compacted() -> Self {
        Self {
            rounds: vec![
                discount(),
                clamp(),
                ("/compact".to_owned(), Vec::new()),
                leaflet(),
                close(),
            ],
        }
    }

    /// The usual rounds and one for each department: about 90 turns.
    pub(super) fn long() -> Self {
        let mut story = Self::usual();
        let last = story.rounds.pop();
        story.rounds.extend(DEPARTMENTS.into_iter().map(department));
        story.rounds.extend(last);
        story
    }

    /// Without the prompts that are commands of one client.
    pub(super) fn without_commands(mut self) -> Self {
        self.rounds.retain(|(prompt, _)| !prompt.starts_with('/'));
        self
    }

    /// All that is asked in one prompt, answered without a stop: the words that end a round are said
    /// before the first calls of the next.
    pub(super) fn in_one_round(self) -> Self {
        let mut asked = Vec::new();
        let mut turns: Vec<Turn> = Vec::new();
        for (number, (prompt, round)) in self.rounds.into_iter().enumerate() {
            asked.push(format!("{}. {prompt}", number + 1));
            for mut turn in round {
                if let Some(last) = turns.pop_if(|last| last.calls.is_empty()) {
                    let said = [last.text, turn.text].into_iter().flatten();
                    turn.text = Some(said.collect::<Vec<_>>().join("\n\n"));
                }
                turns.push(turn);
            }
        }
        Self {
            rounds: vec![(asked.join("\n"), turns)],
        }
    }

    /// What the person asks, in order.
    pub(super) fn prompts(&self) -> impl Iterator<Item = &str> {
        self.rounds.iter().map(|(prompt, _)| prompt.as_str())
    }

    /// The script for an upstream; each round is known by its prompt.
    pub(super) fn script(&self, root: &str) -> Script {
        let mut script = Script::new(root).round(ERRAND, errand());
        for marker in COMPACTION {
            script = script.round(marker, summary());
        }
        for (prompt, turns) in &self.rounds {
            script = script.round(prompt, turns.clone());
        }
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::shop;
    use neenee_testkit::upstream::Op;
    use std::collections::BTreeMap;

    /// What a recording is for: one read and one edit fail, and no more.
    #[test]
    fn the_story_fits_the_shop() {
        let mut files: BTreeMap<String, String> = shop::files()
            .into_iter()
            .map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned()))
            .collect();
        let story = Story::long();
        let ops = story
            .rounds
            .iter()
            .flat_map(|(_, turns)| turns)
            .flat_map(|turn| &turn.calls);
        let (mut missing, mut refused) = (Vec::new(), Vec::new());
        for op in ops {
            match op {
                Op::Read { path, lines } => match files.get(path) {
                    Some(text) => {
                        let last = lines.map_or(0, |(first, count)| first + count - 1);
                        assert!(
                            text.lines().count() >= last as usize,
                            "{path} ends before {last}"
                        );
                    }
                    None => missing.push(path.clone()),
                },
                Op::Edit { path, old, new } => {
                    let text = files
                        .get_mut(path)
                        .expect("only files that are there are edited");
                    match text.matches(old.as_str()).count() {
                        0 => refused.push(path.clone()),
                        1 => *text = text.replacen(old.as_str(), new, 1),
                        more => panic!("{more} places in {path} read {old:?}"),
                    }
                }
                Op::Write { path, content } => {
                    files.insert(path.clone(), content.clone());
                }
                _ => {}
            }
        }
        assert_eq!(missing, ["src/discount.rs"]);
        assert_eq!(refused, ["src/price.rs"]);
    }

    #[test]
    fn one_round_asks_and_answers_the_same() {
        let calls = |story: &Story| -> Vec<Op> {
            let turns = story.rounds.iter().flat_map(|(_, turns)| turns);
            turns.flat_map(|turn| turn.calls.clone()).collect()
        };
        let (rounds, one) = (Story::usual(), Story::usual().in_one_round());
        assert_eq!(one.prompts().count(), 1);
        assert_eq!(calls(&rounds), calls(&one));
        let (_, turns) = &one.rounds[0];
        let silent = turns.iter().filter(|turn| turn.calls.is_empty()).count();
        assert_eq!(silent, 1, "a turn without calls ends the round");
    }
}
