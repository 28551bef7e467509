//! Pages of runs, of comparisons and of benchmarks, as a parser of HTML sees them.

mod comparisons;
mod runs;
mod texts;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::html::{Element, block, blocks, elements};
use crate::sandbox::Sandbox;

pub(crate) struct Page {
    html: String,
    elements: Vec<Element>,
}

impl Page {
    fn read(path: &Path) -> Self {
        let html = fs::read_to_string(path).unwrap();
        Self {
            elements: elements(&html),
            html,
        }
    }

    pub(crate) fn of(sandbox: &Sandbox, name: &str) -> Self {
        Self::read(&sandbox.work().join(name))
    }

    /// The text of the first element with this name and class.
    fn text(&self, name: &str, class: &str) -> &str {
        let is_it =
            |it: &&Element| it.name == name && it.attribute("class").unwrap_or_default() == class;
        &self.elements.iter().find(is_it).unwrap().text
    }

    fn sentence(&self) -> &str {
        self.text("p", "sentence")
    }

    pub(crate) fn notices(&self) -> Vec<(&str, &str)> {
        let items = self.elements.iter().filter(|it| it.name == "li");
        let notice = |it: &'_ Element| it.attribute("class").is_some();
        items
            .filter(|it| notice(it))
            .map(|it| (it.attribute("class").unwrap(), it.text.as_str()))
            .collect()
    }

    /// The names of the facts, each followed by its value.
    fn facts(&self) -> Vec<&str> {
        let items = self.elements.iter();
        let items = items.filter(|it| ["dt", "dd"].contains(&it.name.as_str()));
        items.map(|it| it.text.as_str()).collect()
    }

    fn captions(&self) -> String {
        let folded = |it: &Element| it.attribute("class") == Some("rest");
        let captions = self.elements.iter();
        let captions = captions.filter(|it| it.name == "caption" || folded(it));
        captions.map(|it| it.text.clone() + "\n").collect()
    }

    fn table(&self) -> Value {
        block(&self.elements, "table").unwrap()
    }

    pub(crate) fn column(&self, key: &str) -> Value {
        let table = self.table();
        let columns = table["columns"].as_array().unwrap();
        let found = columns.iter().find(|it| it["key"] == key);
        let keys: Vec<&Value> = columns.iter().map(|it| &it["key"]).collect();
        found
            .unwrap_or_else(|| panic!("no `{key}` in {keys:?}"))
            .clone()
    }

    pub(crate) fn cases(&self) -> Vec<Value> {
        blocks(&self.elements, "cases")
    }

    fn passages(&self) -> Vec<Value> {
        blocks(&self.elements, "passages")
    }

    /// Everything that a reader of the file can find out.
    fn everything(&self) -> String {
        let parts = [self.table(), json!(self.cases()), json!(self.passages())];
        parts
            .iter()
            .fold(self.html.clone(), |all, part| all + &part.to_string())
    }
}

/// The values of a column as they are printed.
pub(crate) fn shown(column: &Value) -> Vec<String> {
    let cells = column["cells"].as_array().unwrap().iter();
    cells
        .map(|cell| match cell {
            Value::Array(number) => number[1].as_str().unwrap().to_owned(),
            Value::String(text) => text.clone(),
            Value::Object(_) => "undefined".to_owned(),
            other => other.to_string(),
        })
        .collect()
}
