//! YAML 1.1 as Python's `yaml.safe_load` reads it.
//!
//! The syntax is the parser's, YAML 1.2 with the leniency of PyYAML; what a plain scalar means is YAML 1.1: `yes` is true,
//! `1:30` is 90, `010` is 8, `1e3` and `0o10` are texts. The result has to fit into JSON, so some values differ:
//!
//! - dates and times stay the text that was written;
//! - `.nan` and `.inf`, also of a number that is too large, are errors;
//! - integers beyond 64 bits become the nearest floating-point number, with a warning;
//! - `!!binary` is an error, `!!set` becomes the list of its members, `!!omap` and `!!pairs` lists of pairs;
//! - a key that is not a text becomes one: `1`, `true`, `null`;
//! - a plain `=`, and numbers without a digit such as `0x_`, are texts, where PyYAML gives up.
//!
//! Where a break is a line or paragraph separator of Unicode (U+2028, U+2029), only quoted and plain texts agree with PyYAML; it
//! ends no comment here. A mapping in braces needs a blank or a quote between a key's colon and its value: `{a: {b: 1}}`, where
//! PyYAML also takes `{a:{b: 1}}`. The lines of a text in quotes must be indented more than their block.
//!
//! A key that occurs twice takes its last value, with a warning. Aliases and merge keys work; an alias inside the value that
//! it repeats is an error, and so are aliases that together repeat more than 16 MB and
//! a hundred times the length of the text.

mod anchors;
mod breaks;
mod composer;
mod scalar;
mod scanned_text;
mod values;

pub use composer::read;
