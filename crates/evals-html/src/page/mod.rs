//! Pages: what a reader sees first, the table of cases, and the cases themselves, in one file that needs no network.
//!
//! [`Page::write`] streams the file. These are its parts, in their order:
//!
//! 1. `<head>`: the content security policy with the digests of script and style, the title, the style sheet.
//! 2. The [`Opening`], which reads and prints without scripts:
//!
//!    ```html
//!    <main>
//!    <header id="top"><h1>…</h1><div class="card">…</div><p class="sentence">…</p>
//!      <ul class="notices"><li class="note|warning|failure">…</li></ul>
//!      <dl class="facts"><div><dt>…</dt><dd>…</dd></div></dl>
//!      <details class="configuration"><summary>Configuration</summary><dl class="facts">…</dl></details></header>
//!    <section id="matrix"><div class="listing">…</div></section>
//!    <section id="worst"><h2>Cases to look at first</h2><ol><li><a href="#case=ID">…</a>…</li></ol></section>
//!    <section id="figures"><h2>Figures</h2><div class="tabs"><div><input type="radio"><label>…</label>
//!      <figure id="figure-NAME"><div class="drawing"><svg>…</svg></div><figcaption>…</figcaption></figure></div></div></section>
//!    <section id="cases"><h2>Cases</h2><noscript><p>…</p></noscript></section>
//!    <section id="measures"><h2>Measures</h2><div class="listing"><table><caption>…</caption>…</table></div></section>
//!    </main>
//!    ```
//!
//!    Figures are tabs without a script: radio buttons, of which the style sheet shows the chosen one's figure. Of a caption, the
//!    first sentence is visible, and the others are folded. The first cases of the table are `#worst`, so that they are read without
//!    a script; a page of as few cases lacks it.
//!
//!    A figure that is wider than [`Width::Screen`](crate::figure::Width::Screen) has `class="wide"` and is drawn larger.
//!    In the local viewer, a `<nav class="pages">` with links stands before `<main>`, and nothing else differs ([`Place`]).
//!    A part that has nothing to show is left out: no notices, no figures, no listings, and `#cases` where there are no cases.
//!    The script draws into `#cases`. Control characters and those that change the direction of text are visible escapes here, as
//!    [`evals_messages::visible`] writes them.
//! 3. The data, each part in a `<script type="text/plain" id="ID">` of its own. Its content is Base64 (standard alphabet, padded, no
//!    white space) of raw deflate of UTF-8 JSON:
//!
//!    | id | JSON |
//!    |---|---|
//!    | `table` | the [`CaseRows`] |
//!    | `cases-B` | an array of up to [`BLOCK`] [`Case`]s: those of the rows from `B * 64` on |
//!    | `passages-B` | an array of up to [`BLOCK`] [`Passage`]s: those with the numbers from `B * 64` on |
//!
//!    Blocks of passages stand between those of cases. Texts are as they were, control characters included: the script makes
//!    them visible. A page without cases leaves these parts out.
//! 4. `<script type="application/json" id="page">`: the [`Contents`] as plain JSON, with `<` written as `\u003c`.
//! 5. The script.
//!
//! JSON names are those of the types' fields. What is optional is left out where it is missing, and so is a list that may be
//! empty by its nature, such as `marks`. The passages of a [`Ranked`] document are numbers here, and `null` where the page leaves
//! a passage out, because the file would become too large.
//!
//! # Links
//!
//! The fragment of the address is the state of the page, and figures link to it: pairs `name=value`, joined by `&`, percent-encoded.
//!
//! | pair | meaning |
//! |---|---|
//! | `case=ID` | shows the case |
//! | `q=WORDS` | shows the rows in which all words occur |
//! | `sort=KEY`, `sort=-KEY` | sorts by a column, ascending or descending |
//! | `f.KEY=TEXT` | shows the rows whose label in the column is this one; several pairs of one column: any of them |
//! | `f.KEY=LOW..HIGH`, `f.KEY=LOW..=HIGH` | the same for numbers, seconds and verdicts: at least LOW, and below HIGH (with `=`: at most HIGH) |
//! | `f.KEY=undefined` | the same for cells without a value |
//!
//! # Without texts
//!
//! [`Texts::Omitted`] is for a page that is shared. It leaves out every text that comes from the corpus, the dataset, the system
//! or the judge: columns of [`ColumnKind::Text`], the fields of cases and runs, reasons (of undefined cells too), messages of
//! failures, passages with their titles, steps, and the labels of outcomes. Ids of cases and documents stay, and so do numbers,
//! verdicts, grades and times. Columns of [`ColumnKind::Label`] and the opening stay too: their author has to keep them free of such
//! texts.

mod assets;
mod body;
mod case;
mod contents;
mod error;
mod omission;
mod opening;
mod passages;
mod table;
mod template;
mod worst;
mod writer;

pub use assets::page_policy;
pub use case::{
    Case, Field, FieldRole, Mark, Outcome, OutcomeKind, Passage, Ranked, Run, Side, Step, Timing,
};
pub use contents::{Contents, Sides, Texts};
pub use error::PageError;
pub use opening::{Fact, Listing, Notice, Opening, PageFigure, Score, ScoreAxis, Severity};
pub use table::{CaseRows, Cell, Column, ColumnKind};
pub use writer::{Page, Place, PlaceLink, Written};

/// Cases in one compressed block, and passages in one.
pub const BLOCK: usize = 64;
