//! A small made-up shop in Rust, Python and TypeScript: the project that recorded clients work on.
//! Deliberately written by rule, so that it is ours to publish, and long enough that reads are paged.

use anyhow::Context as _;
use std::fmt::Write as _;
use std::path::Path;

/// Products of a department; a product takes eight lines of its file.
const PRODUCTS: usize = 150;

/// Departments, each a Rust file of 1 202 lines and part of the stock.
pub(super) const DEPARTMENTS: [&str; 5] = ["kitchen", "garden", "office", "travel", "toys"];

/// Writes the project into `folder`, which is created.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write(folder: &Path) -> anyhow::Result<()> {
    for (path, bytes) in files() {
        let full = folder.join(&path);
        let parent = full.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&full, bytes))
            .with_context(|| format!("failed to write {}", full.display()))?;
    }
    Ok(())
}

/// The files of the project with their content.
pub(super) fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("assets/logo.png".to_owned(), LOGO.to_vec()),
        ("data/stock.csv".to_owned(), stock().into_bytes()),
        ("docs/guide.md".to_owned(), guide().into_bytes()),
        ("web/labels.ts".to_owned(), labels().into_bytes()),
    ];
    for (number, name) in DEPARTMENTS.into_iter().enumerate() {
        files.push((format!("src/{name}.rs"), department(number).into_bytes()));
    }
    for (path, text) in FIXED {
        files.push(((*path).to_owned(), text.as_bytes().to_vec()));
    }
    files
}

/// Files written by hand, in `shop/` beside this file.
const FIXED: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("shop/manifest.txt")),
    ("README.md", include_str!("shop/readme.txt")),
    ("docs/案内.md", include_str!("shop/annai.txt")),
    ("src/main.rs", include_str!("shop/main.txt")),
    ("src/price.rs", include_str!("shop/price.txt")),
    ("tools/report.py", include_str!("shop/report.py")),
    ("web/cart.ts", include_str!("shop/cart.ts")),
];

struct Product {
    /// As in `blue-teapot-07`.
    name: String,
    title: String,
    title_ja: String,
    cents: u32,
    shelf: u32,
    grams: u32,
    left: u32,
}

fn product(department: usize, number: usize) -> Product {
    const COLOURS: [(&str, &str); 10] = [
        ("blue", "青い"),
        ("red", "赤い"),
        ("green", "緑の"),
        ("white", "白い"),
        ("black", "黒い"),
        ("yellow", "黄色い"),
        ("grey", "灰色の"),
        ("brown", "茶色の"),
        ("violet", "紫の"),
        ("orange", "橙の"),
    ];
    const THINGS: [[(&str, &str); 5]; 5] = [
        [
            ("teapot", "急須"),
            ("bowl", "茶碗"),
            ("ladle", "お玉"),
            ("tray", "お盆"),
            ("kettle", "やかん"),
        ],
        [
            ("spade", "鋤"),
            ("bucket", "バケツ"),
            ("hose", "ホース"),
            ("lantern", "提灯"),
            ("planter", "植木鉢"),
        ],
        [
            ("stapler", "ホチキス"),
            ("folder", "書類挟み"),
            ("lamp", "電灯"),
            ("ruler", "定規"),
            ("inkpot", "墨壺"),
        ],
        [
            ("satchel", "鞄"),
            ("umbrella", "傘"),
            ("flask", "水筒"),
            ("blanket", "毛布"),
            ("compass", "羅針盤"),
        ],
        [
            ("kite", "凧"),
            ("top", "独楽"),
            ("puzzle", "パズル"),
            ("drum", "太鼓"),
            ("marble", "ビー玉"),
        ],
    ];
    // Strides without a common divisor with the lengths walk through all pairs before one repeats.
    let (colour, colour_ja) = COLOURS[(number * 3 + department) % COLOURS.len()];
    let (thing, thing_ja) = THINGS[department][(number / 2 + department) % THINGS[0].len()];
    let mix = |factor: usize, limit: usize| ((number + 1) * factor + department * 97) % limit;
    let small = |value: usize| u32::try_from(value).unwrap_or(0);
    Product {
        name: format!("{colour}-{thing}-{number:03}"),
        title: format!("{colour} {thing}"),
        title_ja: format!("{colour_ja}{thing_ja}"),
        cents: small(199 + mix(7_919, 9_800)),
        shelf: small(1 + mix(13, 40)),
        grams: small(50 + mix(337, 4_000)),
        left: small(mix(31, 120)),
    }
}

fn products(department: usize) -> impl Iterator<Item = Product> {
    (0..PRODUCTS).map(move |number| product(department, number))
}

fn department(number: usize) -> String {
    let mut text = String::from("use crate::price::{Grams, Money, Product};\n\n");
    for one in products(number) {
        let _ = write!(
            text,
            "/// {} ({}), shelf {}.\npub fn {}() -> Product {{\n    Product::new(\"{}\", Money::cents({}))\n        .on_shelf({})\n        .weighing(Grams({}))\n        .described(\"A {} of {} g; {} were left at the last count.\")\n}}\n\n",
            one.title,
            one.title_ja,
            one.shelf,
            one.name.replace('-', "_"),
            one.name,
            one.cents,
            one.shelf,
            one.grams,
            one.title,
            one.grams,
            one.left
        );
    }
    text
}

fn stock() -> String {
    let mut text = String::from("department,name,cents,shelf,left,image\n");
    for (number, department) in DEPARTMENTS.into_iter().enumerate() {
        for one in products(number) {
            let _ = writeln!(
                text,
                "{department},{},{},{},{},C:\\Shop\\images\\{department}\\{}.png",
                one.name, one.cents, one.shelf, one.left, one.name
            );
        }
    }
    text
}

fn labels() -> String {
    let mut text = String::from(
        "export const labels: Record<string, [en: string, ja: string, mark: string]> = {\n",
    );
    const MARKS: [&str; 5] = ["🍵", "🌱", "✏️", "🧳", "👩‍👧‍👦"];
    for (number, mark) in MARKS.into_iter().enumerate() {
        for one in products(number) {
            let _ = writeln!(
                text,
                "  \"{}\": [\"{}\", \"{}\", \"{mark}\"],",
                one.name, one.title, one.title_ja
            );
        }
    }
    text.push_str("};\n");
    text
}

fn guide() -> String {
    let mut text = String::from("# Guide for the people at the counter\n");
    for (number, department) in DEPARTMENTS.into_iter().enumerate() {
        let _ = write!(text, "\n## {department}\n\n");
        for one in products(number).step_by(6) {
            let _ = writeln!(
                text,
                "- The {} stands on shelf {}. Wrap it twice when it weighs more than {} g, and ask before you promise more than {} of them.",
                one.title, one.shelf, one.grams, one.left
            );
        }
    }
    text
}

/// Four stripes, 64 x 32 pixels, PNG with a palette.
const LOGO: [u8; 119] = [
    0x89, 0x50, 0x4e, 0x47, 0xd, 0xa, 0x1a, 0xa, 0x0, 0x0, 0x0, 0xd, 0x49, 0x48, 0x44, 0x52, 0x0,
    0x0, 0x0, 0x40, 0x0, 0x0, 0x0, 0x20, 0x8, 0x3, 0x0, 0x0, 0x0, 0x95, 0x43, 0x8e, 0xb6, 0x0, 0x0,
    0x0, 0xc, 0x50, 0x4c, 0x54, 0x45, 0xc8, 0x28, 0x28, 0xf0, 0xf0, 0xf0, 0x28, 0x5a, 0xa0, 0x14,
    0x14, 0x1e, 0x15, 0xce, 0xf1, 0x69, 0x0, 0x0, 0x0, 0x26, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda,
    0x63, 0x60, 0x18, 0x5, 0xa3, 0x0, 0x8, 0x18, 0x29, 0x4, 0xa3, 0x6, 0xc, 0xf, 0x3, 0x98, 0x28,
    0x4, 0xa3, 0x6, 0xc, 0xf, 0x3, 0x98, 0x29, 0x4, 0xa3, 0x6, 0xc, 0xb, 0x3, 0x0, 0x79, 0xc4, 0xc,
    0x1, 0xc8, 0x8b, 0x2c, 0xc1, 0x0, 0x0, 0x0, 0x0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60,
    0x82,
];
