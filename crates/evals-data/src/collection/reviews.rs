//! What people said about the questions of a test set: edits and drops, which change what is read.

use evals_questions::SetFolder;
use evals_questions::review::{Review, changes_digest, current};

use super::questions::Questions;
use crate::error::DataError;
use crate::reader::{FileContent, TableFile};

/// The folder of a reviewed test set with its reviews.
#[derive(Debug, Clone)]
pub(super) struct Reviewed {
    pub(super) folder: SetFolder,
    reviews: Vec<Review>,
}

impl Reviewed {
    /// The set whose questions these files are; `None` if they are no set, or nobody reviewed it.
    pub(super) fn of(files: &[TableFile]) -> Result<Option<Self>, DataError> {
        let [only] = files else { return Ok(None) };
        let FileContent::OnDisk(path) = &only.content else {
            return Ok(None);
        };
        let Some(folder) = SetFolder::of_questions(path).filter(SetFolder::is_reviewed) else {
            return Ok(None);
        };
        let reviews = folder.reviews()?;
        Ok(Some(Self { folder, reviews }))
    }

    /// The digest of all edits and drops; `None` if people changed nothing.
    pub(super) fn digest(&self) -> Option<String> {
        changes_digest(&self.reviews)
    }

    /// Edits questions, and leaves out those that were dropped.
    pub(super) fn apply(&self, read: &mut Questions) {
        let current = current(&self.reviews);
        let before = read.questions.len();
        read.questions.retain_mut(|question| {
            let review = current.get(question.id.as_str());
            review.is_none_or(|review| review.apply(&mut question.text, &mut question.answer))
        });
        let dropped = before - read.questions.len();
        read.counts.dropped_in_review = dropped as u64;
        read.counts.questions -= dropped as u64;
    }
}
