//! The pages under test.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use evals_html::figure::Width;
use evals_html::page::{Page, Sides, Texts};
use tempfile::TempDir;

use crate::samples;
use crate::synthetic::Synthetic;

/// Pages in a folder that ends with the value.
pub(crate) struct Pages {
    folder: TempDir,
}

impl Pages {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A page of made-up cases, with every figure.
    pub(crate) fn synthetic(&self, made: Synthetic, texts: Texts) -> PathBuf {
        let path = self.folder.path().join("page.html");
        let opening = made.opening(samples::all(Width::Screen));
        let table = made.table();
        let page = Page {
            texts,
            sides: made.is_change.then(|| Sides {
                before: "20261121T120000Z-synthetic".to_owned(),
                after: "20261122T120000Z-synthetic".to_owned(),
            }),
            ..Page::new(&opening, &table)
        };
        let file = BufWriter::new(File::create(&path).unwrap());
        page.write(made.cases(), file).unwrap();
        path
    }

    /// A page of 300 cases.
    pub(crate) fn run(&self) -> PathBuf {
        self.synthetic(cases(300), Texts::Kept)
    }

    /// A comparison of 300 cases.
    pub(crate) fn change(&self) -> PathBuf {
        let made = Synthetic {
            is_change: true,
            ..cases(300)
        };
        self.synthetic(made, Texts::Kept)
    }
}

/// So many made-up cases.
pub(crate) fn cases(cases: usize) -> Synthetic {
    Synthetic {
        cases,
        passages: cases,
        ..Synthetic::full()
    }
}
