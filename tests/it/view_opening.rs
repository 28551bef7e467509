//! What `evaluations view` starts a browser with.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::opened_viewer::OpenedViewer;
use crate::sandbox::Sandbox;

#[test]
fn the_browser_gets_a_file_that_only_the_user_reads_until_the_server_ends() {
    let sandbox = Sandbox::new();
    let mut viewer = OpenedViewer::start(&sandbox);
    let address = viewer.address();
    let token = address.split('/').nth(3).unwrap();
    assert!(!viewer.opened.contains(token), "{}", viewer.opened);
    assert!(!viewer.opened.contains("127.0.0.1"), "{}", viewer.opened);

    let file = Path::new(&viewer.opened).to_owned();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains(token), "{page}");

    viewer.interrupt();
    assert!(!file.exists(), "{}", file.display());
}
