//! The shape of a manifest file, and the checks that turn it into a manifest.

use evals::ClusterKey;
use evals_rag::Question;
use evals_yaml::Tree;
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

use super::column::Filter;
use super::source::WrittenSource;
use super::{
    Column, DocumentColumns, JudgementColumns, Labels, Manifest, ManifestError, Origin,
    QuestionColumns, RetrievalDefaults, Size, Source, Table,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenManifest {
    name: Spanned<String>,
    #[serde(default)]
    description: String,
    licence: Option<String>,
    homepage: Option<String>,
    size: Option<Size>,
    source: Option<Spanned<WrittenSource>>,
    documents: Option<Spanned<DocumentColumns>>,
    questions: Spanned<QuestionColumns>,
    judgements: Option<Spanned<JudgementColumns>>,
    unanswerable: Option<Spanned<Unanswerable>>,
    #[serde(default)]
    retrieval: RetrievalDefaults,
    labels: Option<Spanned<Labels>>,
    cluster: Option<Spanned<String>>,
    settings: Option<Spanned<Tree>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unanswerable {
    #[serde(default, deserialize_with = "super::column::one_or_many")]
    answer: Vec<String>,
    #[serde(default, rename = "where")]
    filter: Filter,
}

impl WrittenManifest {
    pub(super) fn check(self, origin: Origin) -> Result<Manifest, ManifestError> {
        let named = origin.to_string();
        self.checked(origin)
            .map_err(|(line, message)| ManifestError::Invalid {
                origin: named,
                line,
                message,
            })
    }

    fn checked(mut self, origin: Origin) -> Checked<Manifest> {
        if self.name.value.trim().is_empty() {
            return fails(self.name.referenced.line(), "`name` is empty");
        }
        let settings = settings(self.settings)?;
        let parent = self.source.as_ref();
        let judged_apart = self.judgements.is_some();
        let documents = self.documents.take();
        documents.as_ref().map_or(Ok(()), check_documents)?;
        let is_labelled = self.labels.is_some();
        check_questions(
            &self.questions,
            judged_apart,
            (documents.is_some(), is_labelled),
        )?;
        self.judgements.as_ref().map_or(Ok(()), check_judgements)?;
        let unanswerable = unanswerable(self.unanswerable, &self.questions.value)?;
        self.questions.value.unanswerable = unanswerable.filter;
        let labels = labels(self.labels, &self.questions.value)?;
        let cluster = cluster(self.cluster, &self.questions.value)?;
        let documents = match documents {
            Some(mut written) => {
                let own = written.value.source.take();
                table(written, own, parent, &origin)?
            }
            None => Table {
                source: Source::Nothing,
                columns: DocumentColumns::none(),
            },
        };
        let own = self.questions.value.source.take();
        let questions = table(self.questions, own, parent, &origin)?;
        let judgements = match self.judgements {
            Some(mut written) => {
                let own = written.value.source.take();
                Some(table(written, own, parent, &origin)?)
            }
            None => None,
        };
        Ok(Manifest {
            name: self.name.value,
            description: self.description,
            licence: self.licence,
            homepage: self.homepage,
            size: self.size,
            documents,
            questions,
            judgements,
            unanswerable: unanswerable.answer,
            labels,
            retrieval: self.retrieval.with_headline_first(),
            cluster,
            settings,
            origin,
        })
    }
}

/// A checked part of a manifest, or the line and the message of its defect.
type Checked<T> = Result<T, (u64, String)>;

fn fails<T>(line: u64, message: impl Into<String>) -> Checked<T> {
    Err((line, message.into()))
}

/// A section whose keys are all commented out counts as empty.
fn settings(written: Option<Spanned<Tree>>) -> Checked<Tree> {
    let none = Tree::Mapping(Vec::new());
    let Some(written) = written else {
        return Ok(none);
    };
    match written.value {
        Tree::Leaf(Value::Null) => Ok(none),
        Tree::Leaf(_) => fails(
            written.referenced.line(),
            "`settings` must be a mapping such as `{search: {limit: 5}}`",
        ),
        mapping @ Tree::Mapping(_) => Ok(mapping),
    }
}

/// What makes questions a cluster. A key of their metadata has to be one that the manifest keeps.
fn cluster(
    written: Option<Spanned<String>>,
    questions: &QuestionColumns,
) -> Checked<Option<ClusterKey>> {
    let Some(written) = written else {
        let by_conversation = || ClusterKey::Metadata(Question::CONVERSATION.to_owned());
        return Ok(questions.conversation.as_ref().map(|_| by_conversation()));
    };
    let line = written.referenced.line();
    let key: Result<ClusterKey, _> = written.value.parse();
    let key = key.map_err(|error| (line, format!("`cluster`: {error}")))?;
    let ClusterKey::Metadata(name) = &key else {
        return Ok(Some(key));
    };
    let kept = questions.metadata.iter().map(Column::path);
    if questions.facts().any(|fact| fact == name) || kept.into_iter().any(|path| path == *name) {
        return Ok(Some(key));
    }
    let message =
        format!("`cluster: {key}` needs `{name}` among the columns of `questions.metadata`");
    fails(line, message)
}

/// What people said about answers. It has to be part of the metadata that the manifest keeps.
fn labels(
    written: Option<Spanned<Labels>>,
    questions: &QuestionColumns,
) -> Checked<Option<Labels>> {
    let Some(written) = written else {
        return Ok(None);
    };
    let is_kept = |name: &String| {
        let mut columns = questions.metadata.iter();
        columns.any(|column| column.is_spread() || column.path() == *name)
    };
    match written.value.errors.iter().find(|name| !is_kept(name)) {
        None => Ok(Some(written.value)),
        Some(name) => fails(
            written.referenced.line(),
            format!("`labels.errors` names `{name}`, which `questions.metadata` does not keep"),
        ),
    }
}

/// What marks a question as unanswerable. Reference answers that do require a column of them.
fn unanswerable(
    written: Option<Spanned<Unanswerable>>,
    questions: &QuestionColumns,
) -> Checked<Unanswerable> {
    let Some(written) = written else {
        return Ok(Unanswerable::default());
    };
    if !written.value.answer.is_empty() && !questions.has_answers() {
        return fails(
            written.referenced.line(),
            "`unanswerable` compares reference answers, but `questions.answer` names no column",
        );
    }
    Ok(written.value)
}

fn table<C>(
    written: Spanned<C>,
    own: Option<Spanned<WrittenSource>>,
    parent: Option<&Spanned<WrittenSource>>,
    origin: &Origin,
) -> Checked<Table<C>> {
    let table_line = written.referenced.line();
    let line = own
        .as_ref()
        .or(parent)
        .map_or(table_line, |source| source.referenced.line());
    let source = own
        .map(|source| source.value)
        .unwrap_or_default()
        .resolve(parent.map(|source| &source.value), origin)
        .map_err(|message| (line, message))?;
    Ok(Table {
        source,
        columns: written.value,
    })
}

fn check_documents(written: &Spanned<DocumentColumns>) -> Checked<()> {
    let (line, columns) = (written.referenced.line(), &written.value);
    if columns.text.is_empty() {
        return fails(line, "`documents.text` names no column");
    }
    if columns.text.iter().any(Column::each) && !columns.uri.each() {
        return fails(
            line,
            "`documents.text` takes list elements (`[]`), so `documents.uri` must as well",
        );
    }
    if columns.filter.columns().any(Column::each) {
        return fails(
            line,
            "`documents.where` compares single values, not list elements (`[]`)",
        );
    }
    Ok(())
}

fn check_questions(
    written: &Spanned<QuestionColumns>,
    judged: bool,
    (has_documents, is_labelled): (bool, bool),
) -> Checked<()> {
    let (line, columns) = (written.referenced.line(), &written.value);
    check_metadata(columns).map_err(|message| (line, message))?;
    check_turns(columns).map_err(|message| (line, message.to_owned()))?;
    let is_judged = is_labelled || columns.has_answers() || columns.goal.is_some();
    match (columns.relevant.is_empty(), judged) {
        (true, false) if !has_documents && !is_judged => fails(
            line,
            "a manifest without `documents` needs reference answers: add `questions.answer`, or `documents`",
        ),
        (true, false) if !has_documents => Ok(()),
        _ if !has_documents => fails(
            line,
            "the manifest has judgements, but no documents: add `documents`",
        ),
        (true, false) => fails(
            line,
            "the manifest does not say which documents are relevant: add `questions.relevant` or `judgements`",
        ),
        (false, true) => fails(
            line,
            "both `questions.relevant` and `judgements` are given: keep one",
        ),
        _ if judged && columns.id.is_none() => fails(
            line,
            "`judgements` name questions by id, so `questions.id` is required",
        ),
        _ => Ok(()),
    }
}

fn check_judgements(written: &Spanned<JudgementColumns>) -> Checked<()> {
    let columns = &written.value;
    let each_grade = columns.grade.as_ref().is_some_and(Column::each);
    if columns.query.each() || (each_grade && !columns.document.each()) {
        let message = "`[]` belongs to `judgements.document`, and with it to `grade`: a row is about one question";
        return fails(written.referenced.line(), message);
    }
    Ok(())
}

/// The names of a question's metadata have to be different, and reports need one of them for themselves.
fn check_metadata(questions: &QuestionColumns) -> Result<(), String> {
    let columns = &questions.metadata;
    for (index, column) in columns.iter().enumerate() {
        if column.each() {
            return Err(format!(
                "`questions.metadata` keeps whole values, not list elements: write `{}` without `[]`",
                column.path()
            ));
        }
        let path = column.path();
        if path == Question::ANSWERABLE || questions.facts().any(|fact| fact == path) {
            return Err(format!(
                "`questions.metadata` cannot keep a column `{path}`, because every question has a fact of that name; rename the column, or \
                 leave it out"
            ));
        }
        if columns[..index].contains(column) {
            return Err(format!("`questions.metadata` names `{column}` twice"));
        }
    }
    Ok(())
}

/// The columns of a conversation have to fit together.
fn check_turns(columns: &QuestionColumns) -> Result<(), &'static str> {
    let QuestionColumns {
        text,
        answer,
        conversation,
        turn,
        role,
        messages,
        goal,
        known,
        ..
    } = columns;
    if text.is_none() && messages.is_none() && goal.is_none() {
        return Err(
            "missing key `text`: the column of the question (or `messages`, whose last one of the user is the question, or `goal` of a \
             simulated user)",
        );
    }
    if goal.is_none() && known.is_some() {
        return Err(
            "`questions.facts` needs `questions.goal`, the column of what the user who knows them wants",
        );
    }
    let of_turns = [conversation, turn, role, messages];
    if goal.is_some() && of_turns.into_iter().any(Option::is_some) {
        return Err(
            "with `questions.goal`, a row is a whole conversation: leave `questions.conversation`, `turn`, `role` and `messages` out",
        );
    }
    if conversation.is_none() && (turn.is_some() || role.is_some()) {
        return Err(
            "`questions.turn` and `questions.role` need `questions.conversation`, the column that says which rows belong together",
        );
    }
    if messages.is_some() && (role.is_some() || turn.is_some()) {
        return Err(
            "`questions.messages` has the turns of each row: leave `questions.role` and `questions.turn` out",
        );
    }
    if role.is_some() && !answer.is_empty() {
        return Err(
            "with `questions.role`, rows of the assistant are the reference answers: leave `questions.answer` out",
        );
    }
    Ok(())
}
