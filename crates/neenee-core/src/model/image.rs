//! What providers count for a picture, in tokens, from its dimensions.
//! Deliberately not the picture: no decoding, no resizing, no file formats.

/// How a provider counts a picture. Where a client may ask for less detail, the default detail is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageRule {
    /// One token for each square of `side` pixels begun, at most `cap`, times `percent` / 100. Larger
    /// pictures are scaled down by the provider to fit the cap.
    Patches {
        /// Pixels along a side of a square.
        side: u32,
        /// Most squares that are counted.
        cap: u32,
        /// Tokens for a hundred squares.
        percent: u32,
    },
    /// Scaled into 2048 × 2048 and to 768 on the short side, then `base` and `tile` tokens for each
    /// square of 512 pixels begun.
    Tiles {
        /// Tokens for any picture.
        base: u32,
        /// Tokens for each square.
        tile: u32,
    },
    /// 258 tokens up to 384 × 384; above, 258 for each crop of about two thirds of the short side.
    Crops,
    /// The same for any picture.
    Fixed(u32),
}

impl ImageRule {
    /// Claude before Opus 4.7: <https://platform.claude.com/docs/en/build-with-claude/vision>.
    pub const CLAUDE: Self = Self::Patches {
        side: 28,
        cap: 1_568,
        percent: 100,
    };
    /// Claude from Opus 4.7 on, which sees more of large pictures; the same page.
    pub const CLAUDE_LARGE: Self = Self::Patches {
        side: 28,
        cap: 4_784,
        percent: 100,
    };
    /// GPT from 5.4 on: <https://developers.openai.com/api/docs/guides/images-vision>.
    pub const GPT_PATCHES: Self = Self::Patches {
        side: 32,
        cap: 10_000,
        percent: 120,
    };
    /// The small GPT-4.1 and GPT-5 (`mini`); the same page.
    pub const GPT_MINI: Self = Self::Patches {
        side: 32,
        cap: 1_536,
        percent: 162,
    };
    /// The smallest GPT-4.1 and GPT-5 (`nano`); the same page.
    pub const GPT_NANO: Self = Self::Patches {
        side: 32,
        cap: 1_536,
        percent: 246,
    };
    /// o4-mini; the same page.
    pub const O4_MINI: Self = Self::Patches {
        side: 32,
        cap: 1_536,
        percent: 172,
    };
    /// GPT-5 up to 5.3; the same page.
    pub const GPT_5: Self = Self::Tiles {
        base: 70,
        tile: 140,
    };
    /// GPT-4o and GPT-4.1; the same page.
    pub const GPT_4: Self = Self::Tiles {
        base: 85,
        tile: 170,
    };
    /// GPT-4o mini; the same page.
    pub const GPT_4O_MINI: Self = Self::Tiles {
        base: 2_833,
        tile: 5_667,
    };
    /// o1 and o3; the same page.
    pub const O_SERIES: Self = Self::Tiles {
        base: 75,
        tile: 150,
    };
    /// Gemini from 3 on: <https://ai.google.dev/gemini-api/docs/media-resolution>.
    pub const GEMINI_3: Self = Self::Fixed(1_120);
    /// Qwen from 3 on, as its processor is published.
    pub const QWEN: Self = Self::Patches {
        side: 32,
        cap: 2_560,
        percent: 100,
    };
    /// Models that publish no rule: squares of 28 pixels, in the middle of those that do.
    pub const OTHER: Self = Self::Patches {
        side: 28,
        cap: 4_096,
        percent: 100,
    };

    /// Tokens for a picture of `width` × `height` pixels. A side of 0 counts as 1.
    pub fn tokens(self, width: u32, height: u32) -> usize {
        let (width, height) = (u64::from(width.max(1)), u64::from(height.max(1)));
        let tokens = match self {
            Self::Patches { side, cap, percent } => {
                let side = u64::from(side.max(1));
                let patches = width.div_ceil(side).saturating_mul(height.div_ceil(side));
                (patches.min(u64::from(cap)) * u64::from(percent)).div_ceil(100)
            }
            Self::Tiles { base, tile } => {
                let (width, height) = fit(width, height, width.max(height), 2_048);
                let (width, height) = fit(width, height, width.min(height), 768);
                let tiles = width.div_ceil(512) * height.div_ceil(512);
                u64::from(base) + tiles * u64::from(tile)
            }
            Self::Crops if width <= 384 && height <= 384 => 258,
            Self::Crops => {
                let unit = (width.min(height) * 2 / 3).clamp(256, 768);
                width
                    .div_ceil(unit)
                    .saturating_mul(height.div_ceil(unit))
                    .saturating_mul(258)
            }
            Self::Fixed(tokens) => u64::from(tokens),
        };
        usize::try_from(tokens).unwrap_or(usize::MAX)
    }
}

/// Scales both sides down so that `side`, one of them, is at most `limit`.
fn fit(width: u64, height: u64, side: u64, limit: u64) -> (u64, u64) {
    if side <= limit {
        return (width, height);
    }
    let scale = |length: u64| (length * limit).div_ceil(side).max(1);
    (scale(width), scale(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_count_what_the_providers_say() {
        let cases = [
            (ImageRule::CLAUDE, 200, 200, 64),
            (ImageRule::CLAUDE, 1_000, 1_000, 1_296),
            (ImageRule::CLAUDE, 4_000, 3_000, 1_568),
            (ImageRule::CLAUDE_LARGE, 1_920, 1_080, 2_691),
            (ImageRule::CLAUDE_LARGE, 8_000, 8_000, 4_784),
            (ImageRule::GPT_PATCHES, 1_024, 1_024, 1_229),
            (ImageRule::GPT_MINI, 1_024, 1_024, 1_659),
            (ImageRule::GPT_4, 1_024, 1_024, 765),
            (ImageRule::GPT_4, 2_048, 4_096, 1_105),
            (ImageRule::GPT_5, 512, 512, 210),
            (ImageRule::Crops, 384, 384, 258),
            (ImageRule::Crops, 960, 540, 6 * 258),
            (ImageRule::GEMINI_3, 1, 1, 1_120),
        ];
        for (rule, width, height, tokens) in cases {
            assert_eq!(
                rule.tokens(width, height),
                tokens,
                "{rule:?} {width}x{height}"
            );
        }
    }

    #[test]
    fn no_dimensions_overflow() {
        for rule in [ImageRule::CLAUDE, ImageRule::GPT_4, ImageRule::Crops] {
            for (width, height) in [(0, 0), (u32::MAX, u32::MAX), (u32::MAX, 1)] {
                assert!(rule.tokens(width, height) > 0);
            }
        }
    }
}
