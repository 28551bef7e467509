//! Renders the opening of a page as HTML.

use std::io::Write;

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use super::assets::{self, policy};
use super::worst::WorstCase;
use super::{Page, PageError, PageFigure};
use crate::escaping;
use crate::figure::Width;
use crate::scene::SvgUse;

/// Writes everything before the data. `worst` are the cases to look at first.
pub(super) fn write_head(
    page: &Page<'_>,
    worst: &[WorstCase],
    out: &mut impl Write,
) -> Result<(), PageError> {
    let environment = environment()?;
    let template = environment.get_template("page.html")?;
    let (opening, style) = (page.opening, assets::style());
    let figures: Vec<Value> = opening.figures.iter().map(drawn).collect();
    let viewer = page.place.viewer();
    let (up, links) = viewer.unwrap_or_default();
    let context = context! {
        policy => Value::from_safe_string(policy(assets::SCRIPT, &style)),
        style => Value::from_safe_string(style),
        has_cases => !page.table.ids.is_empty(),
        is_served => viewer.is_some(),
        up => up,
        links => Value::from(Serde(links)),
        title => opening.title.as_str(),
        score => Value::from(Serde(&opening.score)),
        sentence => opening.sentence.as_str(),
        worst => Value::from(Serde(worst)),
        matrix => Value::from(Serde(&opening.matrix)),
        configuration => Value::from(Serde(&opening.configuration)),
        notices => Value::from(Serde(&opening.notices)),
        facts => Value::from(Serde(&opening.facts)),
        figures => figures,
        listings => Value::from(Serde(&opening.listings)),
    };
    out.write_all(template.render(context)?.as_bytes())?;
    Ok(())
}

/// The templates of a page.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = escaping::environment();
    environment.add_template("page.html", include_str!("../../templates/page.html"))?;
    let navigation = include_str!("../../templates/navigation.html");
    environment.add_template("navigation.html", navigation)?;
    environment.add_template("opening.html", include_str!("../../templates/opening.html"))?;
    environment.add_template("listing.html", include_str!("../../templates/listing.html"))?;
    environment.add_template("rest.html", include_str!("../../templates/rest.html"))?;
    environment.add_filter("opening", |caption: &str| divided(caption).0.to_owned());
    environment.add_filter("rest", |caption: &str| divided(caption).1.to_owned());
    Ok(environment)
}

/// The first sentence of a caption, and the others.
fn divided(caption: &str) -> (&str, &str) {
    match caption.find(". ") {
        Some(end) => (&caption[..=end], &caption[end + 2..]),
        None => (caption, ""),
    }
}

fn drawn(figure: &PageFigure) -> Value {
    context! {
        name => figure.name.as_str(),
        title => figure.scene.title.as_str(),
        is_wide => figure.scene.width > Width::Screen.points(),
        caption => figure.scene.caption.as_str(),
        svg => Value::from_safe_string(figure.scene.svg(SvgUse::Page(&figure.name))),
    }
}
