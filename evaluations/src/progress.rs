//! Progress bars, fed by the observers of the libraries.

use indicatif::{ProgressBar, ProgressStyle};

use crate::printer::Printer;

/// A bar of which the total is known.
pub(crate) fn counted(printer: &Printer, label: &str, total: usize) -> ProgressBar {
    let bar = printer.progress().add(ProgressBar::new(total as u64));
    bar.set_style(style(
        "{prefix:<12} {bar:30} {pos}/{len} {per_sec} eta {eta}",
    ));
    bar.set_prefix(label.to_owned());
    bar
}

/// A bar of bytes.
pub(crate) fn bytes(printer: &Printer, label: &str, total: u64) -> ProgressBar {
    let bar = printer.progress().add(ProgressBar::new(total));
    bar.set_style(style(
        "{prefix:<12} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}",
    ));
    bar.set_prefix(label.to_owned());
    bar
}

/// A line for work of which the end is not known.
pub(crate) fn open_ended(printer: &Printer, label: &str) -> ProgressBar {
    let bar = printer.progress().add(ProgressBar::new_spinner());
    bar.set_style(style("{prefix:<12} {spinner} {msg} ({elapsed})"));
    bar.set_prefix(label.to_owned());
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is valid")
}
