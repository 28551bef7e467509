//! Damaged files and files of other programs.

use std::path::Path;

use rusqlite::Connection;

use super::*;

const REPLIES: usize = 300;

/// A file with replies, all of them in the file itself and none in its log.
async fn filled(folder: &Folder) -> Vec<u8> {
    let store = ReplyStore::open(folder.file()).await.unwrap();
    for number in 0..REPLIES {
        put(&store, &number.to_string(), long_reply(number)).await;
    }
    drop(store);
    std::fs::read(folder.file()).unwrap()
}

fn long_reply(number: usize) -> ChatReply {
    reply(&format!("{number} ").repeat(200))
}

/// The result of reading a file with that content: how many replies are intact, and how many are reported as damaged.
async fn read(content: &[u8]) -> (usize, usize) {
    let folder = Folder::new();
    std::fs::write(folder.file(), content).unwrap();
    let store = match ReplyStore::open(folder.file()).await {
        Ok(store) => store,
        Err(error) => {
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            return (0, REPLIES);
        }
    };
    let (mut intact, mut damaged) = (0, 0);
    for number in 0..REPLIES {
        match store.get(key(&number.to_string())).await {
            Ok(Some(reply)) => {
                assert_eq!(reply, long_reply(number));
                intact += 1;
            }
            Ok(None) => {}
            Err(StoreError::Damaged { .. }) => damaged += 1,
            Err(error) => panic!("{:?}", chain(&error)),
        }
    }
    (intact, damaged)
}

#[tokio::test]
async fn a_torn_file_is_reported_and_never_read_as_something_else() {
    let content = filled(&Folder::new()).await;
    assert_eq!(read(&content).await, (REPLIES, 0));
    for part in [3, 10, 50, 90] {
        let torn = &content[..content.len() * part / 100];
        let (intact, damaged) = read(torn).await;
        assert_eq!(intact + damaged, REPLIES, "{part} % of the file");
        assert!(damaged > 0, "{part} % of the file");
    }
}

#[tokio::test]
async fn overwritten_bytes_are_never_read_as_a_reply() {
    let content = filled(&Folder::new()).await;
    let mut random = fastrand::Rng::with_seed(5);
    let mut all_damaged = 0;
    for _ in 0..20 {
        let mut content = content.clone();
        let start = random.usize(4_096..content.len() - 64);
        content[start..start + 64].fill_with(|| random.u8(..));
        let (intact, damaged) = read(&content).await;
        assert!(intact + damaged <= REPLIES);
        all_damaged += damaged;
    }
    assert!(all_damaged >= 10, "{all_damaged}");
}

#[tokio::test]
async fn a_changed_letter_is_noticed_and_repaired_by_the_next_reply() {
    let folder = Folder::new();
    let store = ReplyStore::open(folder.file()).await.unwrap();
    put(&store, "q", reply("42")).await;
    Connection::open(folder.file())
        .unwrap()
        .execute("UPDATE replies SET reply = replace(reply, '42', '43')", [])
        .unwrap();
    assert_eq!(get(&store, "q").await, None);
    put(&store, "q", reply("42")).await;
    assert_eq!(get(&store, "q").await, Some(reply("42")));
}

async fn refused(path: &Path) -> String {
    let before = std::fs::read(path).unwrap();
    let error = ReplyStore::open(path).await.unwrap_err();
    assert_eq!(
        std::fs::read(path).unwrap(),
        before,
        "the file stays as it is"
    );
    error.to_string()
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let folder = Folder::new();
    let path = folder.file();
    std::fs::write(&path, "these are my notes\n".repeat(100)).unwrap();
    let path = path.display();
    assert_eq!(
        refused(&folder.file()).await,
        format!(
            "`{path}` is damaged: move it away to start with an empty one, or save what is readable with `sqlite3 {path} .recover`"
        )
    );
}

#[tokio::test]
async fn another_program_s_database_is_left_alone() {
    let folder = Folder::new();
    let connection = Connection::open(folder.file()).unwrap();
    connection
        .execute_batch("CREATE TABLE bookmarks (url TEXT)")
        .unwrap();
    let path = folder.file();
    assert_eq!(
        refused(&path).await,
        format!(
            "`{}` is a database, but not one of replies: name a different file",
            path.display()
        )
    );
}

#[tokio::test]
async fn a_later_format_is_left_alone() {
    let folder = Folder::new();
    drop(ReplyStore::open(folder.file()).await.unwrap());
    let connection = Connection::open(folder.file()).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    let path = folder.file();
    assert_eq!(
        refused(&path).await,
        format!(
            "`{}` has format 2 and this version reads format 1: name a different file, or move it away to start with an empty one",
            path.display()
        )
    );
}

#[tokio::test]
async fn an_empty_file_becomes_one_of_replies() {
    let folder = Folder::new();
    std::fs::write(folder.file(), "").unwrap();
    let store = ReplyStore::open(folder.file()).await.unwrap();
    put(&store, "q", reply("a")).await;
    assert_eq!(get(&store, "q").await, Some(reply("a")));
}
