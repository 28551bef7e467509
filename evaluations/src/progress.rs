//! Progress bars, fed by the observers of the libraries.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::printer::{Printer, printable};

/// A bar of which the total is known, or will be.
pub(crate) fn counted(printer: &Printer, label: &str) -> ProgressBar {
    add(
        printer,
        label,
        "{prefix:<16} {wide_bar} {pos}/{len} {eta:>4}",
    )
}

/// A bar of bytes.
pub(crate) fn bytes(printer: &Printer, label: &str, total: u64) -> ProgressBar {
    let bar = add(
        printer,
        label,
        "{prefix} {wide_bar} {bytes}/{total_bytes} {eta:>4}",
    );
    bar.set_length(total);
    bar
}

/// A line for work of which the end is not known.
pub(crate) fn open_ended(printer: &Printer, label: &str) -> ProgressBar {
    let bar = add(
        printer,
        label,
        "{prefix:<16} {spinner} {wide_msg} {elapsed:>4}",
    );
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn add(printer: &Printer, label: &str, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    let style = if printer.stdout().unicode {
        style
    } else {
        style.progress_chars("=> ").tick_chars("-\\|/ ")
    };
    // Dressed before it is added, because from then on every change is drawn: a bar of 0/0, while there is no length.
    let bar = ProgressBar::no_length()
        .with_style(style)
        .with_prefix(printable(label));
    printer.progress().add(bar)
}
