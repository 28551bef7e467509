//! Where figures are shown.

use evals_html::figure::Width;
use evals_html::page::{CaseRows, Column, ColumnKind};

/// Where figures are shown.
#[derive(Debug, Clone, Copy)]
pub enum FigurePlace<'p> {
    /// In files of their own, as wide as a page of a journal.
    File,
    /// On a page, beside each other. Parts of figures lead to rows of its table.
    Page(&'p CaseRows),
}

impl FigurePlace<'_> {
    /// The width of a figure.
    pub(super) fn width(self) -> Width {
        match self {
            Self::File => Width::Page,
            Self::Page(_) => Width::Screen,
        }
    }

    /// What titles say that a figure is about: nothing on a page, which says it already.
    pub(super) fn subject(self, subject: &str) -> &str {
        match self {
            Self::File => subject,
            Self::Page(_) => "",
        }
    }

    /// How the links begin that filter a column of the page's table; `None` without such a column.
    ///
    /// A column is known by its title and kind, because its key has a number where two columns have one title.
    pub(super) fn filter(self, title: &str, kind: ColumnKind) -> Option<String> {
        let Self::Page(table) = self else { return None };
        let mut columns = table.columns.iter();
        let column = columns.find(|it| it.title == title && it.kind == kind);
        column.map(Column::filter)
    }
}
