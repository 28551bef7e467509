//! A table on its way to any format: what its columns are, and which cells stand out.

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// To the left, and shortened before any column is left out: names and texts.
    Label,
    Left,
    Right,
    /// To the left. A page that is too narrow leaves it out without a word, because other columns have its numbers.
    Drawing,
}

/// How a line or a cell stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Dim,
    Warning,
    Error,
}

/// The head of a column.
#[derive(Clone, Debug)]
pub(super) struct ColumnHead {
    pub(super) title: String,
    pub(super) align: Align,
}

/// The text of a cell.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) style: Style,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// What stands above it; may be empty.
    pub(super) heading: String,
    pub(super) columns: Vec<ColumnHead>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Sentences below it.
    pub(super) notes: Vec<String>,
    /// Titles of the columns that a narrow page leaves out first, in this order. Two that say nothing alone are joined by [`AND`].
    pub(super) least: Vec<String>,
    /// Whether columns that do not fit go into further tables, rather than away.
    pub(super) folds: bool,
}

/// Between the titles of columns that are left out together.
pub(super) const AND: &str = " and ";

impl Cell {
    /// A cell that stands out if `is_bold`.
    pub(super) fn bold(text: String, is_bold: bool) -> Self {
        let style = if is_bold { Style::Bold } else { Style::Plain };
        Self { text, style }
    }

    pub(super) fn dim(text: String) -> Self {
        let style = Style::Dim;
        Self { text, style }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::bold(text, false)
    }
}

impl Grid {
    pub(super) fn new<T: Into<String>>(columns: impl IntoIterator<Item = (T, Align)>) -> Self {
        let columns = columns.into_iter().map(|(title, align)| ColumnHead {
            title: title.into(),
            align,
        });
        Self {
            columns: columns.collect(),
            ..Self::default()
        }
    }

    pub(super) fn dropping(self, least: &[&str]) -> Self {
        Self {
            least: least.iter().copied().map(str::to_owned).collect(),
            ..self
        }
    }

    pub(super) fn push<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Inserts a column of drawings, unless all are missing.
    pub(super) fn draw(&mut self, place: usize, title: &str, drawings: Vec<Option<String>>) {
        if drawings.iter().all(Option::is_none) {
            return;
        }
        let column = ColumnHead {
            title: title.to_owned(),
            align: Align::Drawing,
        };
        self.columns.insert(place, column);
        for (row, drawing) in self.rows.iter_mut().zip(drawings) {
            row.insert(place, drawing.unwrap_or_default().into());
        }
    }

    pub(super) fn remove(&mut self, place: usize) {
        self.columns.remove(place);
        for row in &mut self.rows {
            row.remove(place);
        }
    }

    /// Drops a column without any text but zeros, and leaves the zeros out of another one.
    pub(super) fn hide_zeros(&mut self, place: usize) {
        for row in &mut self.rows {
            if row[place].text == "0" {
                row[place].text.clear();
            }
        }
        if self.rows.iter().all(|row| row[place].text.is_empty()) {
            self.remove(place);
        }
    }

    /// The column with this title.
    pub(super) fn place(&self, title: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.title == title)
    }
}
