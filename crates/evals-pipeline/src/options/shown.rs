//! Parts of cases that tables show.

use clap::ValueEnum;
use evals::render::Part;

/// A part of a case that the table of cases can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShownPart {
    Input,
    Expected,
    Output,
    Metadata,
}

impl From<ShownPart> for Part {
    fn from(shown: ShownPart) -> Self {
        match shown {
            ShownPart::Input => Self::Input,
            ShownPart::Expected => Self::Expected,
            ShownPart::Output => Self::Output,
            ShownPart::Metadata => Self::Metadata,
        }
    }
}
