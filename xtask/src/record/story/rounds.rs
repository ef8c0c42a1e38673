//! The rounds: what the person asks and the turns that answer, one function for each.
//! Deliberately eventful: re-reads, edits after reads, an edit and a read that fail, parallel calls, paging.

use neenee_testkit::upstream::{Op, Turn};

pub(super) const ERRAND: &str = "List every product of src/garden.rs that weighs more than 3 kg";

pub(super) fn discount() -> (String, Vec<Turn>) {
    let turns = vec![
        Turn::say("I will look at how prices are put together first.")
            .thinking("A total below zero can only come from the discount or from the shipping. Find both.")
            .and_call([
                Op::shell("ls -1 . src web tools docs data"),
                Op::Plan(vec![
                    "Find where totals are computed".to_owned(),
                    "Find where discounts come from".to_owned(),
                    "Say what to change".to_owned(),
                ]),
            ]),
        Turn::call([Op::read("src/price.rs"), Op::read("README.md")]),
        Turn::call([Op::search("Discount|discount", "src")]),
        Turn::say("The entry point, and a module of its own if there is one.")
            .and_call([Op::read("src/main.rs"), Op::read("src/discount.rs")]),
        Turn::call([Op::search("discount", "web/cart.ts")]),
        Turn::say(
            "`Discount::percent` in src/price.rs takes any u8, so 150 gives more than the goods cost and \
             the total falls below zero. I would refuse more than 100 there, and do the same in `web/cart.ts`.",
        ),
    ];
    (
        "Why does a discount of 150 % give a negative total? Say what you would change.".to_owned(),
        turns,
    )
}

pub(super) fn clamp() -> (String, Vec<Turn>) {
    let turns = vec![
        Turn::say("First the edit.").and_call([Op::edit(
            "src/price.rs",
            "    pub fn percent(percent: u8) -> Discount {\n        Discount { percent }\n",
            "    pub fn percent(percent: u8) -> Discount {\n        Discount { percent: percent.min(100) }\n",
        )]),
        Turn::say("The text differs; I look again.").and_call([Op::page("src/price.rs", 52, 20)]),
        Turn::call([Op::edit(
            "src/price.rs",
            "    pub fn percent(percent: u8) -> Self {\n        Self { percent }\n    }\n",
            "    /// More than all cannot be taken off.\n    pub fn percent(percent: u8) -> Self {\n        let percent = if percent > 100 { 100 } else { percent };\n        Self { percent }\n    }\n",
        )]),
        Turn::call([Op::read("src/price.rs")]),
        Turn::call([
            Op::shell("sed -i 's/cents(490)/cents(590)/' src/price.rs && grep -n SHIPPING src/price.rs"),
            Op::shell("cat src/main.rs"),
        ]),
        Turn::call([Op::page("src/price.rs", 68, 16)]),
        Turn::say("Discounts stop at 100 % now, and shipping costs 5.90 €. Nothing else was touched."),
    ];
    (
        "Do that in Rust, and raise the shipping to 5.90.".to_owned(),
        turns,
    )
}

pub(super) fn stock() -> (String, Vec<Turn>) {
    let turns = vec![
        Turn::call([
            Op::shell("python3 tools/report.py --department kitchen"),
            Op::read("tools/report.py"),
        ]),
        Turn::call([Op::shell("python3 tools/report.py --low 10")]),
        Turn::call([Op::edit(
            "tools/report.py",
            "        print(line(row))\n",
            "        print(line(row))\n        count += 1\n",
        )]),
        Turn::call([Op::shell("python3 tools/report.py --low 10 | tail -3")])
            .thinking("That must fail: the counter is never set to zero."),
        Turn::call([Op::edit(
            "tools/report.py",
            "    bad = 0\n",
            "    bad = 0\n    count = 0\n",
        )]),
        Turn::call([Op::shell(
            "python3 tools/report.py --low 10 && python3 tools/report.py --check > /dev/null",
        )]),
        Turn::call([
            Op::shell("python3 tools/report.py --department nowhere | grep teapot"),
            Op::shell("head -40 data/stock.csv"),
        ]),
        Turn::call([Op::read("tools/report.py")]),
        Turn::say(
            "The report counts its rows now; nothing in data/stock.csv has an image outside of C:\\Shop\\images.",
        ),
    ];
    (
        "Which products run low? Let the report count them.".to_owned(),
        turns,
    )
}

pub(super) fn labels() -> (String, Vec<Turn>) {
    let turns = vec![
        Turn::call([Op::read("docs/案内.md"), Op::Image("assets/logo.png".to_owned())]),
        Turn::call([Op::page("web/labels.ts", 1, 250), Op::page("web/labels.ts", 251, 250)]),
        Turn::call([Op::page("web/labels.ts", 501, 252)]),
        Turn::call([Op::search("急須|茶碗", "web/labels.ts"), Op::read("web/cart.ts")]),
        Turn::call([Op::edit(
            "web/cart.ts",
            "    return cents - (cents * discount) / 100;\n",
            "    const percent = Math.min(Math.max(discount, 0), 100);\n    return cents - Math.round((cents * percent) / 100);\n",
        )]),
        Turn::call([Op::Write {
            path: "web/receipt.ts".to_owned(),
            content: "import { Cart } from \"./cart\";\n\nexport function receipt(cart: Cart, language: \"en\" | \"ja\"): string {\n  const thanks = language === \"ja\" ? \"ありがとうございました 🙇\" : \"Thank you 🙇\";\n  return [...cart.show(language), thanks].join(\"\\n\");\n}\n".to_owned(),
        }]),
        Turn::call([Op::read("web/cart.ts"), Op::page("web/labels.ts", 100, 60)]),
        Turn::say("レシートは `web/receipt.ts` にあります 🙇。The cart clamps its discount as src/price.rs does."),
    ];
    (
        "日本語のレシートを作ってください。The cart must clamp its discount too.".to_owned(),
        turns,
    )
}

pub(super) fn kitchen() -> (String, Vec<Turn>) {
    let turns = vec![
        Turn::call([
            Op::page("src/kitchen.rs", 1, 400),
            Op::page("src/kitchen.rs", 401, 400),
            Op::page("src/kitchen.rs", 801, 402),
        ]),
        Turn::call([
            Op::page("src/garden.rs", 1, 300),
            Op::page("src/garden.rs", 280, 200),
        ]),
        Turn::call([Op::edit(
            "src/kitchen.rs",
            "pub fn blue_teapot_000() -> Product {\n    Product::new(\"blue-teapot-000\", Money::cents(8118))\n",
            "pub fn blue_teapot_000() -> Product {\n    Product::new(\"blue-teapot-000\", Money::cents(7900))\n",
        )]),
        Turn::call([Op::page("src/kitchen.rs", 1, 400)]),
        Turn::call([Op::search("on_shelf.(7|8|9)\\)", "src/garden.rs")]),
        Turn::call([Op::Agent {
            title: "Find heavy garden things".to_owned(),
            prompt: ERRAND.to_owned(),
        }]),
        Turn::call([Op::Glob("**/*.rs".to_owned())]),
        Turn::say(
            "The blue teapot costs 79.00 € now. The garden has heavy things on shelves 7 to 9 only.",
        ),
    ];
    ("The blue teapot in src/kitchen.rs shall cost 79.00. Where does the garden keep heavy things?".to_owned(), turns)
}

/// What the sub-agent does.
pub(super) fn errand() -> Vec<Turn> {
    vec![
        Turn::call([Op::search("Grams\\(3[0-9]{3}\\)", "src/garden.rs")]),
        Turn::call([Op::page("src/garden.rs", 1, 120)]),
        Turn::say(
            "Planters, hoses and lanterns weigh more than 3 kg; all of them stand on shelves 7 to 9.",
        ),
    ]
}

pub(super) fn department(name: &str) -> (String, Vec<Turn>) {
    let path = format!("src/{name}.rs");
    let turns = vec![
        Turn::call([Op::page(&path, 1, 300), Op::page(&path, 301, 300)]),
        Turn::call([Op::page(&path, 601, 300), Op::page(&path, 901, 302)]),
        Turn::call([Op::search("were left at the last count", &path)]),
        Turn::call([Op::shell(format!(
            "sed -i 's/were left at the last count/were left in December/' {path} && head -30 {path}"
        ))]),
        Turn::call([Op::page(&path, 1, 200), Op::page(&path, 700, 150)]),
        Turn::call([Op::shell(format!(
            "python3 tools/report.py --department {name}"
        ))]),
        Turn::call([Op::search("left in (November|December)", &path)])
            .thinking("Every text should name the month now."),
        Turn::say(format!(
            "All 150 products of the {name} name the month of the last count."
        )),
    ];
    (
        format!("Let the texts of the {name} products name the month of the count."),
        turns,
    )
}

/// Words of the requests by which Claude Code, Codex and opencode have a summary made.
pub(super) const COMPACTION: [&str; 3] = [
    "Respond with TEXT ONLY",
    "CONTEXT CHECKPOINT COMPACTION",
    "Create a new anchored summary",
];

pub(super) fn summary() -> Vec<Turn> {
    vec![Turn::say(
        "<analysis>\nPrices, then the discount.\n</analysis>\n\n<summary>\n1. Primary request: stop discounts at \
         100 % in src/price.rs and raise the shipping to 5.90.\n2. Done: `Discount::percent` clamps, SHIPPING is \
         590.\n3. Pending: web/cart.ts does not clamp yet.\n</summary>",
    )]
}

pub(super) fn leaflet() -> (String, Vec<Turn>) {
    let turns = vec![
        Turn::call([
            Op::shell("python3 tools/leaflet.py"),
            Op::read("docs/guide.md"),
        ]),
        Turn::call([
            Op::shell("exit 3"),
            Op::search("shelf (7|8)\\.", "docs/guide.md"),
        ]),
        Turn::call([Op::read("src/price.rs"), Op::page("src/toys.rs", 1, 500)]),
        Turn::call([Op::page("src/toys.rs", 200, 400)]),
        Turn::say("There is no tool for leaflets; docs/guide.md lists what stands on shelf 7."),
    ];
    ("Print a leaflet for shelf 7.".to_owned(), turns)
}

pub(super) fn close() -> (String, Vec<Turn>) {
    let turns = vec![
        Turn::call([
            Op::shell("wc -l src/*.rs web/*.ts tools/*.py"),
            Op::read("src/price.rs"),
        ]),
        Turn::say(
            "Changed: src/price.rs, src/kitchen.rs, tools/report.py, web/cart.ts; new: web/receipt.ts.",
        ),
    ];
    ("Name the files that you changed.".to_owned(), turns)
}
