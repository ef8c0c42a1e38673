//! Axes and scales of a plot in SVG.
//! Deliberately no library: two linear axes, ticks at round numbers, colours that suit light and dark.

use std::fmt::Write as _;

/// Width of every plot, in its own units.
pub(super) const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 44.0;

/// Colours by position in a comparison.
const COLOURS: [&str; 11] = [
    "#888888", "#2f6fdb", "#12a5b5", "#d1495b", "#e07a2f", "#b8860b", "#6a994e", "#8e5bb5",
    "#c25598", "#7a6c5d", "#22a06b",
];

/// The colour of the policy at a position.
pub(super) fn colour(position: usize) -> &'static str {
    COLOURS[position % COLOURS.len()]
}

/// A plot that is being drawn.
pub(super) struct Plot {
    svg: String,
    height: f64,
    x_most: f64,
    y_most: f64,
}

impl Plot {
    /// Axes from 0 to what is given. `x` and `y` are a name each, and how a tick is written.
    pub(super) fn new(
        height: f64,
        (x_most, y_most): (f64, f64),
        (x_name, x_tick): (&str, fn(f64) -> String),
        (y_name, y_tick): (&str, fn(f64) -> String),
    ) -> Self {
        let mut plot = Plot {
            svg: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
                 aria-label=\"{y_name} over {x_name}\" font-family=\"system-ui, sans-serif\" font-size=\"11\">\n\
                 <style>text{{fill:#555}}.grid{{stroke:#8884;stroke-width:.5}}\
                 @media (prefers-color-scheme:dark){{text{{fill:#bbb}}}}</style>\n"
            ),
            height,
            x_most: x_most.max(f64::MIN_POSITIVE),
            y_most: y_most.max(f64::MIN_POSITIVE),
        };
        let (bottom, right) = (height - BOTTOM, WIDTH - RIGHT);
        for tick in ticks(plot.x_most) {
            let x = plot.x(tick);
            let _ = writeln!(
                plot.svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 15.0,
                x_tick(tick)
            );
        }
        for tick in ticks(plot.y_most) {
            let y = plot.y(tick);
            let _ = writeln!(
                plot.svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                y_tick(tick)
            );
        }
        let _ = writeln!(
            plot.svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_name}</text>\
             <text transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">{y_name}</text>",
            (LEFT + right) / 2.0,
            height - 8.0,
            (TOP + bottom) / 2.0
        );
        plot
    }

    /// Where a value of the first axis stands.
    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + value / self.x_most * (WIDTH - LEFT - RIGHT)
    }

    /// Where a value of the second axis stands.
    pub(super) fn y(&self, value: f64) -> f64 {
        let bottom = self.height - BOTTOM;
        bottom - value / self.y_most * (bottom - TOP)
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: impl Iterator<Item = (f64, f64)>, style: &str) {
        let mut path = String::new();
        for (x, y) in points {
            let mark = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{mark}{:.1} {:.1}", self.x(x), self.y(y));
        }
        let _ = writeln!(self.svg, "<path fill=\"none\" {style} d=\"{path}\"/>");
    }

    /// A dot with a title that shows on hovering.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: &str, title: &str) {
        let (x, y) = (self.x(x), self.y(y));
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"><title>{title}</title></circle>"
        );
    }

    /// Text at a place in the plot's own units.
    pub(super) fn text(&mut self, (x, y): (f64, f64), text: &str, colour: &str) {
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"fill:{colour}\">{text}</text>"
        );
    }

    /// The names of lines, right of the plot.
    pub(super) fn legend<'a>(&mut self, names: impl Iterator<Item = (&'a str, &'static str)>) {
        for (number, (name, colour)) in names.enumerate() {
            let y = TOP + 10.0 + number as f64 * 15.0;
            self.text((WIDTH - RIGHT + 10.0, y), name, colour);
        }
    }

    /// The drawing.
    pub(super) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// Round numbers from 0 to `most`, four to nine of them.
fn ticks(most: f64) -> Vec<f64> {
    let rough = most / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let count = (most / step + 1e-9).floor() as usize;
    (0..=count).map(|number| number as f64 * step).collect()
}

/// `1200000` as `1.2M`.
pub(super) fn short(value: f64) -> String {
    let trim = |text: String| {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.to_owned()
    };
    match value {
        value if value >= 1e6 => format!("{}M", trim(format!("{:.2}", value / 1e6))),
        value if value >= 1e3 => format!("{}k", trim(format!("{:.1}", value / 1e3))),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(7.0), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(0.34).len(), 4);
        assert!(ticks(0.0).len() < 3);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(1_200_000.0), "1.2M");
        assert_eq!(short(65_000.0), "65k");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(200_000_000.0), "200M");
    }
}
