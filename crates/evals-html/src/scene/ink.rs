//! Colours by the part that they play, so that one drawing has a light and a dark form.

/// The colour of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ink {
    /// The page behind everything.
    Background,
    /// Text and axes.
    Text,
    /// Text and lines of less weight.
    Muted,
    /// Lines of a grid.
    Grid,
    /// One of the series, from 0. Those from [`Ink::SERIES`] on begin again with the first.
    Series(usize),
}

/// The colours of Okabe and Ito (<https://jfly.uni-koeln.de/color/>), which people with any colour vision can tell apart: blue,
/// vermillion, bluish green, reddish purple, orange, sky blue. Yellow is left out: it does not show on white.
const LIGHT: [&str; Ink::SERIES] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// The same colours for a dark page, with the dark ones lightened.
const DARK: [&str; Ink::SERIES] = [
    "#4aa8e0", "#ff8a3d", "#2fc79b", "#e09cc3", "#f2b733", "#8fd0f5",
];

impl Ink {
    /// How many series have a colour of their own.
    pub const SERIES: usize = 6;

    /// Every ink, once.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let series = (0..Self::SERIES).map(Self::Series);
        [Self::Background, Self::Text, Self::Muted, Self::Grid]
            .into_iter()
            .chain(series)
    }

    /// The name of the ink in style sheets, such as `text` and `s0`.
    pub(super) fn name(self) -> String {
        match self {
            Self::Background => "bg".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Muted => "muted".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Series(number) => format!("s{}", number % Self::SERIES),
        }
    }

    /// Its colour on a light page.
    pub(super) fn light(self) -> &'static str {
        match self {
            Self::Background => "#ffffff",
            Self::Text => "#1a1a1a",
            Self::Muted => "#595959",
            Self::Grid => "#dedede",
            Self::Series(number) => LIGHT[number % Self::SERIES],
        }
    }

    /// Its colour on a dark page.
    pub(super) fn dark(self) -> &'static str {
        match self {
            Self::Background => "#16181d",
            Self::Text => "#ececec",
            Self::Muted => "#a9adb5",
            Self::Grid => "#363a42",
            Self::Series(number) => DARK[number % Self::SERIES],
        }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub ink: Ink,
    /// Its width in points.
    pub width: f64,
    /// Whether it is dashed: lengths of dash and gap in points.
    pub dash: Option<(f64, f64)>,
}

impl Stroke {
    /// A solid line.
    pub const fn solid(ink: Ink, width: f64) -> Self {
        Self {
            ink,
            width,
            dash: None,
        }
    }

    /// The same line with dashes.
    #[must_use]
    pub const fn dashed(self, dash: f64, gap: f64) -> Self {
        Self {
            dash: Some((dash, gap)),
            ..self
        }
    }
}

/// How an area is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// Its colour.
    pub ink: Ink,
    /// From 0, transparent, to 1, opaque.
    pub opacity: f64,
}

impl Fill {
    /// An opaque area.
    pub const fn opaque(ink: Ink) -> Self {
        Self { ink, opacity: 1.0 }
    }
}
