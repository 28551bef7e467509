//! Finding datasets by name.

use super::*;
use crate::manifest::{Origin, Source};

const OWN: &str = "\
name: wix
source: {path: rows.jsonl}
documents: {uri: id, text: text}
questions: {text: question, relevant: id}
";

fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    folder
}

#[test]
fn folders_come_before_the_bundled_datasets() {
    let folder = folder_with("wix.yaml", OWN);
    let manifest = Catalog::new([folder.path()]).find("wix").unwrap();
    assert_eq!(
        manifest.origin,
        Origin::File(folder.path().join("wix.yaml"))
    );
    assert_eq!(
        manifest.documents.source,
        Source::Path {
            path: folder.path().join("rows.jsonl"),
            files: vec![]
        },
        "a path starts at the manifest's folder"
    );
    let bundled = Catalog::new([folder.path().join("absent")])
        .find("wix")
        .unwrap();
    assert_eq!(bundled.origin, Origin::Bundled("wix".to_owned()));
}

#[test]
fn a_file_that_hides_a_built_in_dataset_is_distinguished_from_a_copy() {
    let hides = |name: &str, text: &str| {
        let folder = folder_with(name, text);
        let path = folder.path().join(name);
        let manifest = Catalog::new::<PathBuf>([])
            .find(path.to_str().unwrap())
            .unwrap();
        Catalog::hidden_by(&manifest, path.to_str().unwrap()).is_some()
    };
    assert!(hides("wix.yaml", OWN));
    assert!(
        hides("other.yaml", OWN),
        "it is the name inside that counts"
    );
    assert!(hides("b.yaml", &OWN.replace("wix", "\"beir:scifact\"")));
    assert!(!hides("mine.yaml", &OWN.replace("wix", "mine")));
    assert!(!hides("wix.yaml", bundled::text("wix").unwrap()));
    let bundled = Catalog::new::<PathBuf>([]).find("wix").unwrap();
    assert_eq!(Catalog::hidden_by(&bundled, "wix"), None);
    let folder = folder_with("wix.yaml", &OWN.replace("wix", "mine"));
    let mine = Catalog::new([folder.path()]).find("wix").unwrap();
    assert_eq!(mine.name, "mine");
    assert_eq!(
        Catalog::hidden_by(&mine, "wix"),
        Some("wix"),
        "the name of the file hides it as well"
    );
}

#[test]
fn a_path_to_a_manifest_works_as_a_name() {
    let folder = folder_with("mine.yml", OWN);
    let path = folder.path().join("mine.yml");
    assert_eq!(
        Catalog::new::<PathBuf>([])
            .find(path.to_str().unwrap())
            .unwrap()
            .name,
        "wix"
    );
    let absent = Catalog::new::<PathBuf>([]).find("absent.yaml").unwrap_err();
    assert_eq!(absent.to_string(), "cannot read `absent.yaml`");
}

#[test]
fn a_folder_with_a_manifest_is_a_dataset() {
    let folder = folder_with("dataset.yaml", &OWN.replace("wix", "mine"));
    let find = |path: &std::path::Path| Catalog::new::<PathBuf>([]).find(path.to_str().unwrap());
    let manifest = find(folder.path()).unwrap();
    assert_eq!(
        manifest.origin,
        Origin::File(folder.path().join("dataset.yaml"))
    );
    let other = folder_with("mine.yaml", OWN);
    let message = find(other.path()).unwrap_err().to_string();
    assert!(
        message.contains("is not a dataset, because it has no `dataset.yaml`"),
        "{message}"
    );
}

#[test]
fn an_unknown_name_suggests_similar_ones() {
    let catalog = Catalog::new::<PathBuf>([]);
    let message = |name: &str| catalog.find(name).unwrap_err().to_string();
    assert_eq!(
        message("repliqua"),
        "unknown dataset `repliqua`; did you mean `repliqa`?"
    );
    assert_eq!(message("§§"), "unknown dataset `§§`");
    assert_eq!(catalog.nearest("beir:scifct")[0], "beir:scifact");
    assert!(matches!(
        catalog.find("beir:a/b"),
        Err(CatalogError::Unknown { .. })
    ));
    assert!(matches!(
        catalog.find("../wix"),
        Err(CatalogError::Unknown { .. })
    ));
}

#[test]
fn the_list_has_each_name_once_and_broken_manifests_as_errors() {
    let folder = folder_with("wix.yaml", OWN);
    std::fs::write(folder.path().join("broken.yaml"), "name: [").unwrap();
    let listed = Catalog::new([folder.path()]).manifests();
    assert!(
        listed[0]
            .as_ref()
            .unwrap_err()
            .to_string()
            .ends_with("broken.yaml:1:7: expected a text")
    );
    let names: Vec<&str> = listed
        .iter()
        .flatten()
        .map(|manifest| manifest.name.as_str())
        .collect();
    assert_eq!(names[..2], ["wix", "2wikimultihopqa"]);
    assert_eq!(names.iter().filter(|name| **name == "wix").count(), 1);
    for name in ["beir:scifact", "bright:pony", "nanobeir:nq"] {
        assert!(names.contains(&name), "{name}");
    }
}
