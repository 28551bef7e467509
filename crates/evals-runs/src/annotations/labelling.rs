//! One person labels the answers of a sample, in the browser.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::answers::RunAnswers;
use super::current::CurrentLabels;
use super::file::LabelFile;
use super::label::{Label, LabelVerdict};
use super::sample::{Drawn, Sample, Sampling};

/// One person's work on the answers of a sample.
#[derive(Debug, Clone, Copy)]
pub struct Labelling<'r> {
    /// The run with its answers.
    pub run: &'r RunAnswers,
    /// The file of its labels.
    pub file: &'r LabelFile,
    /// A checked name.
    pub labeller: &'r str,
    /// Which answers to ask for.
    pub sample: Sample,
}

/// An answer to label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Its place among the answers of the run.
    pub place: usize,
    /// The label that the person has given to it.
    pub label: Option<StoredLabel>,
}

/// A label in the file, as its labeller sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredLabel {
    /// What the person says.
    pub verdict: LabelVerdict,
    /// A remark, or an empty text.
    pub note: String,
    /// The stored label that the person saw.
    pub version: LabelVersion,
}

/// Tells labels with another verdict or another note apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LabelVersion(String);

/// A label to store.
#[derive(Debug, Clone, Copy)]
pub struct NewLabel<'n> {
    /// The place of its answer in the run.
    pub place: usize,
    /// What the person says.
    pub verdict: LabelVerdict,
    /// A checked note.
    pub note: &'n str,
    /// The label that the person saw when giving this one; `None` if they saw none.
    pub seen: Option<&'n LabelVersion>,
    /// Whether the person sees the judge's verdict next.
    pub reveals: bool,
    /// The time, as labels record it.
    pub time: &'n str,
}

/// What became of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storing {
    /// It is stored.
    Stored(StoredLabel),
    /// It is not stored: the file has a label under the same name that the person has not seen.
    Unseen(StoredLabel),
}

impl StoredLabel {
    fn of(label: &Label) -> Self {
        let (verdict, note) = (label.verdict, label.note.clone());
        Self {
            version: LabelVersion::of(verdict, &note),
            verdict,
            note,
        }
    }
}

impl LabelVersion {
    fn of(verdict: LabelVerdict, note: &str) -> Self {
        let digest = Sha256::digest(format!("{verdict}\n{note}"));
        Self(hex::encode(&digest[..8]))
    }
}

impl Labelling<'_> {
    /// The answers of the sample in a random order, each with the label that the person has given to it.
    pub fn queue(&self) -> Result<Vec<Queued>> {
        let labels = self.file.read()?;
        let current = CurrentLabels::of(self.run, &labels);
        let own = current.people.get(self.labeller);
        // They are in the order of the answers.
        let own = own.map_or(&[][..], Vec::as_slice);
        let drawn = self.sample.draw(&self.run.answers).into_iter();
        let queued = drawn.map(|Drawn { place, .. }| {
            let label = own.binary_search_by_key(&place, |it| it.place);
            Queued {
                place,
                label: label.ok().map(|found| StoredLabel::of(own[found].label)),
            }
        });
        Ok(queued.collect())
    }

    /// Adds a label to the file, unless it would replace one that the person has not seen.
    pub fn store(&self, new: &NewLabel<'_>) -> Result<Storing> {
        let answer = &self.run.answers[new.place];
        let label = Label {
            case: answer.id.clone(),
            repeat: answer.repeat,
            measure: self.run.measure.clone(),
            verdict: new.verdict,
            note: new.note.to_owned(),
            labeller: self.labeller.to_owned(),
            time: new.time.to_owned(),
            blind: true,
            revealed: new.reveals,
            sampling: self.sampling(new.place),
            digests: answer.digests.clone(),
        };
        let stored = StoredLabel::of(&label);
        let mut unseen = None;
        self.file.add(|known| {
            let last = known.iter().rev().find(|it| label.replaces(it));
            let last = last.map(StoredLabel::of);
            unseen =
                last.filter(|it| Some(&it.version) != new.seen && it.version != stored.version);
            Ok(match unseen {
                Some(_) => Vec::new(),
                None => vec![label.after(known)],
            })
        })?;
        Ok(unseen.map_or(Storing::Stored(stored), Storing::Unseen))
    }

    /// How the answer was chosen. The sample is drawn again, because labellers must not know an answer's probability, which shows the
    /// judge's verdict.
    fn sampling(&self, place: usize) -> Sampling {
        let mut drawn = self.sample.draw(&self.run.answers).into_iter();
        let drawn = drawn.find(|drawn| drawn.place == place);
        drawn.map_or_else(Sampling::chosen, |drawn| self.sample.sampling(drawn))
    }
}
