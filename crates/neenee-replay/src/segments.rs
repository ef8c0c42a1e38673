//! Where a session file compacted itself: the file as it was before each compaction, and as it is.
//! Deliberately by cutting the file: what a window was is the reader's to say, once more for each cut.

use serde::Deserialize;

/// The little of a record that tells a compaction.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    subtype: Option<std::borrow::Cow<'a, str>>,
    #[serde(rename = "isSidechain", default)]
    sidechain: bool,
}

/// The beginnings of `bytes` whose windows together are the session: one up to each compaction,
/// then the whole. Sessions that are one JSON document, and those that never compacted, have one.
///
/// Known are the compactions of Claude Code (`compact_boundary`), Codex (`compacted`) and pi
/// (`compaction`), which write a record a line.
pub fn segments(bytes: &[u8]) -> Vec<&[u8]> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut checked = 0;
    for hit in memchr::memmem::find_iter(bytes, b"compact") {
        if hit < checked {
            continue;
        }
        start = memchr::memrchr(b'\n', &bytes[start..hit]).map_or(start, |at| start + at + 1);
        let end = memchr::memchr(b'\n', &bytes[hit..]).map_or(bytes.len(), |at| hit + at);
        checked = end;
        if start > 0 && is_compaction(&bytes[start..end]) {
            segments.push(&bytes[..start]);
        }
    }
    segments.push(bytes);
    segments
}

fn is_compaction(line: &[u8]) -> bool {
    let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else {
        return false;
    };
    let kind = record.kind.as_deref().unwrap_or_default();
    let subtype = record.subtype.as_deref().unwrap_or_default();
    !record.sidechain
        && match kind {
            "system" => subtype == "compact_boundary",
            "compacted" | "compaction" => true,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_at_its_compactions_only() {
        let file = concat!(
            "{\"type\":\"user\",\"text\":\"compact this\"}\n",
            "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"isSidechain\":true}\n",
            "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"isSidechain\":false}\n",
            "{\"type\":\"user\",\"text\":\"compact, compact\"}\n",
            "{\"type\":\"compacted\",\"payload\":{\"message\":\"compact\"}}\n",
            "{\"type\":\"assistant\"}\n",
        )
        .as_bytes();
        let ends: Vec<usize> = segments(file).iter().map(|part| part.len()).collect();
        let line = |number: usize| {
            let starts = memchr::memchr_iter(b'\n', file).map(|at| at + 1);
            starts.collect::<Vec<_>>()[number - 1]
        };
        assert_eq!(ends, [line(2), line(4), file.len()]);
        assert_eq!(segments(b"{\"messages\":[]}").len(), 1);
        assert_eq!(segments(b"").len(), 1);
    }
}
