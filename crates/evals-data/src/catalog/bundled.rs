//! Manifests and sample data inside the crate, so that an installed tool works from any folder.

use crate::manifest::{Manifest, ManifestError, Origin};

macro_rules! in_datasets {
    ($include:ident, $extension:literal, $($name:literal)*) => {
        &[$(($name, $include!(concat!("../../../../datasets/", $name, $extension)))),*]
    };
}

/// Manifests by name, in alphabetical order.
const MANIFESTS: &[(&str, &str)] = in_datasets!(
    include_str, ".yaml",
    "2wikimultihopqa" "frames" "hotpotqa" "musique" "nq-open" "ragtruth" "repliqa" "sample" "sample-support"
    "t2-convfinqa" "t2-finqa" "t2-tatdqa" "triviaqa" "wix" "wix-simulated" "wix-synthetic"
);

/// Data files by name.
const FILES: &[(&str, &[u8])] = in_datasets!(
    include_bytes, "",
    "sample.parquet" "sample-support-articles.parquet" "sample-support-questions.parquet"
);

/// The names of the bundled manifests.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    MANIFESTS.iter().map(|(name, _)| *name)
}

/// The bundled manifest of that name.
pub(super) fn manifest(name: &str) -> Option<Result<Manifest, ManifestError>> {
    let text = text(name)?;
    Some(Manifest::parse(text, Origin::Bundled(name.to_owned())))
}

/// The text of the bundled manifest of that name.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let known = MANIFESTS.iter().find(|(known, _)| *known == name);
    known.map(|(_, text)| *text)
}

/// The bundled data file of that name.
pub(crate) fn file(name: &str) -> Option<&'static [u8]> {
    FILES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Source;

    #[test]
    fn every_manifest_parses_under_its_own_name_and_finds_its_files() {
        for name in names() {
            let manifest = manifest(name).unwrap().unwrap();
            assert_eq!(manifest.name, name);
            assert!(
                manifest.licence.is_some() && manifest.size.is_some(),
                "{name}"
            );
            for source in manifest.sources() {
                if let Source::Bundled { name } = source {
                    assert!(file(name).is_some(), "{name}");
                }
            }
        }
    }
}
