//! A squarified treemap: weights become rectangles that fill a frame, none too thin to read.
//! Deliberately geometry only; colours and labels are the page's.

/// A rectangle in the units of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) w: f64,
    pub(crate) h: f64,
}

impl Rect {
    /// The rectangle without a margin on each side.
    pub(crate) fn inset(self, margin: f64, top: f64) -> Rect {
        Rect {
            x: self.x + margin,
            y: self.y + top,
            w: (self.w - 2.0 * margin).max(0.0),
            h: (self.h - margin - top).max(0.0),
        }
    }
}

/// Lays out `weights`, which stand in falling order, in `frame`; one rectangle for each, in order.
///
/// Rows are filled along the shorter side for as long as that makes the worst proportion better
/// (Bruls, Huizing and van Wijk, "Squarified treemaps", 2000).
pub(crate) fn layout(weights: &[f64], frame: Rect) -> Vec<Rect> {
    let total: f64 = weights.iter().sum();
    let mut out = Vec::with_capacity(weights.len());
    if total <= 0.0 || frame.w <= 0.0 || frame.h <= 0.0 {
        out.resize(
            weights.len(),
            Rect {
                w: 0.0,
                h: 0.0,
                ..frame
            },
        );
        return out;
    }
    let scale = frame.w * frame.h / total;
    let mut rest = frame;
    let mut start = 0;
    while start < weights.len() {
        let side = rest.w.min(rest.h);
        let mut end = start + 1;
        let mut sum = weights[start] * scale;
        let first = sum;
        let mut best = worst(first, first, sum, side);
        while end < weights.len() {
            let area = weights[end] * scale;
            let next = worst(first, area, sum + area, side);
            if next > best {
                break;
            }
            best = next;
            sum += area;
            end += 1;
        }
        let thickness = if side > 0.0 { sum / side } else { 0.0 };
        let mut along = 0.0;
        for weight in &weights[start..end] {
            let length = if sum > 0.0 {
                weight * scale / sum * side
            } else {
                0.0
            };
            out.push(if rest.w >= rest.h {
                Rect {
                    x: rest.x,
                    y: rest.y + along,
                    w: thickness,
                    h: length,
                }
            } else {
                Rect {
                    x: rest.x + along,
                    y: rest.y,
                    w: length,
                    h: thickness,
                }
            });
            along += length;
        }
        if rest.w >= rest.h {
            rest.x += thickness;
            rest.w = (rest.w - thickness).max(0.0);
        } else {
            rest.y += thickness;
            rest.h = (rest.h - thickness).max(0.0);
        }
        start = end;
    }
    out
}

/// The worst proportion of a row whose largest and smallest areas are these.
fn worst(largest: f64, smallest: f64, sum: f64, side: f64) -> f64 {
    if smallest <= 0.0 || side <= 0.0 {
        return f64::INFINITY;
    }
    let (square, sum) = (side * side, sum * sum);
    (square * largest / sum).max(sum / (square * smallest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_follow_weights_and_stay_inside() {
        let frame = Rect {
            x: 0.0,
            y: 0.0,
            w: 600.0,
            h: 400.0,
        };
        let weights = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let rects = layout(&weights, frame);
        let unit = 600.0 * 400.0 / 24.0;
        for (rect, weight) in rects.iter().zip(weights) {
            assert!((rect.w * rect.h - weight * unit).abs() < 1e-6, "{rect:?}");
            assert!(rect.x >= 0.0 && rect.x + rect.w <= 600.0 + 1e-9);
            assert!(rect.y >= 0.0 && rect.y + rect.h <= 400.0 + 1e-9);
            assert!((rect.w / rect.h).max(rect.h / rect.w) < 3.0, "{rect:?}");
        }
        assert_eq!(layout(&[], frame), []);
        assert_eq!(layout(&[0.0, 0.0], frame).len(), 2);
    }
}
