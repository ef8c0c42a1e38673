//! The project and the scripted answers of the demo.
//! Deliberately ordinary: listing, reading, searching, changing, running, in the proportions of real work.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::put;

/// What the person asks for, round by round.
pub(super) const TASKS: &[&str] = &[
    "Get an overview of this shop: read the modules and tell me what they do.",
    "The totals ignore the discount. Find out where, fix it, and check.",
    "Write handbook pages for the modules, one each.",
    "Now run the checks once more and sum up.",
];

/// Functions in each module: as many as bring all six of them over the threshold of the demo's window.
const STEPS: usize = 37;
const MODULES: [&str; 6] = [
    "basket",
    "catalogue",
    "customer",
    "discount",
    "invoice",
    "stock",
];

/// One answer: text, and tools to call.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) text: String,
    pub(super) calls: Vec<(&'static str, Value)>,
}

fn say(text: impl Into<String>) -> Turn {
    Turn {
        text: text.into(),
        calls: Vec::new(),
    }
}

fn call(text: &str, calls: Vec<(&'static str, Value)>) -> Turn {
    Turn {
        text: text.to_owned(),
        calls,
    }
}

/// Lays out the project.
pub(super) fn make_project(root: &Path) -> std::io::Result<()> {
    for module in MODULES {
        put(root, &format!("src/{module}.py"), &source(module))?;
    }
    put(root, "README.md", "# Shop\n\nA shop in six modules.\n")?;
    put(
        root,
        "check.sh",
        "#!/bin/sh\nset -e\nfor f in src/*.py; do\n  echo \"checking $f\"\n  grep -c '^def ' \"$f\"\ndone\n",
    )
}

fn source(module: &str) -> String {
    let mut text = format!("\"\"\"Everything about the {module} of the shop.\"\"\"\n\n");
    for step in 1..=STEPS {
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "def {module}_step_{step}(items, rate={step}):\n    \"\"\"Step {step} of {STEPS} for the {module}.\"\"\"\n    \
             total = sum(item.price * rate for item in items)\n    return total if total > {} else 0\n\n\n",
            step * 10
        );
    }
    text
}

/// The answers, one for each request, in order.
pub(super) fn turns() -> Vec<Turn> {
    let read = |module: &str| ("read", json!({ "path": format!("src/{module}.py") }));
    let bash = |command: &str| ("bash", json!({ "command": command }));
    let mut turns = vec![
        call(
            "I look around first.",
            vec![
                ("list", json!({ "path": ".", "depth": 2 })),
                (
                    "todo",
                    json!({ "todos": [
                { "content": "overview", "status": "in_progress" },
                { "content": "discount", "status": "pending" },
                { "content": "handbook", "status": "pending" },
            ] }),
                ),
            ],
        ),
        // All at once, and nothing after them: what the next round finds is over the threshold.
        call(
            "Six modules; I read them side by side.",
            MODULES.map(read).to_vec(),
        ),
        say(
            "It is a shop in six modules. Each has thirty-seven steps of the same form: they add up prices with a rate \
             and return nothing below a limit.",
        ),
    ];
    turns.extend([
        call("Where do totals come from?", vec![
            ("grep", json!({ "pattern": "total = sum", "path": "src" })),
            ("glob", json!({ "pattern": "*.py" })),
        ]),
        call("The invoice adds up without a discount.", vec![read("invoice")]),
        call("And the discount itself:", vec![read("discount")]),
        call("", vec![("edit", json!({
            "path": "src/invoice.py",
            "old": "    \"\"\"Step 7 of 37 for the invoice.\"\"\"\n    total = sum(item.price * rate for item in items)",
            "new": "    \"\"\"Step 7 of 37 for the invoice.\"\"\"\n    total = sum(item.price * rate * (1 - item.discount) for item in items)",
        }))]),
        call("I look at the result, and at who calls it.", vec![
            read("invoice"),
            bash("for i in $(seq 1 120); do echo \"case $i: invoice_step_7 total $((i * 7))\"; done"),
        ]),
        call("", vec![read("basket")]),
        call("", vec![read("customer"), bash("sh check.sh")]),
        call("", vec![read("stock")]),
        say("The total of the seventh step in the invoice ignored the discount of an item. It takes it off now, and the \
             checks pass."),
    ]);
    for module in MODULES {
        let mut page = format!("# The {module}\n\n");
        for step in 1..=60 {
            let _ = writeln!(
                page,
                "{step}. Step {step} adds up the prices for the {module}, weighs them with its rate, and returns \
                 nothing below its limit."
            );
        }
        turns.push(call(
            "",
            vec![
                read(module),
                (
                    "write",
                    json!({ "path": format!("handbook/{module}.md"), "content": page }),
                ),
            ],
        ));
    }
    turns.extend([
        say("The handbook has a page for each module."),
        call("", vec![bash("sh check.sh && ls -R handbook && git --version | head -1 || true")]),
        say("All six modules pass their checks. The invoice takes discounts off, and the handbook has six pages."),
    ]);
    turns
}

/// What the scripted model writes when it is asked for a summary.
pub(super) const SUMMARY: &str = "The person wants an overview of the shop, a fix of the totals that ignore discounts, and a \
handbook.\n\nDone: all six modules in src were read; each has 37 steps that add up prices with a rate. In \
src/invoice.py, step 7, the total now takes `item.discount` off; sh check.sh passes. Handbook pages are written to \
handbook/, one for each module.\n\nLeft: what of the handbook is not there yet, then the checks once more and a short \
report.";
