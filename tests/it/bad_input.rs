//! Error messages for bad input: each says what is wrong, where, and how to mend it.

use crate::sandbox::{Sandbox, ended};

const MANIFEST: &str = "name: mine\nsource: {path: rows.csv}\ndocuments: {uri: id, text: text}\n\
                        questions: {text: question, relevant: id}\n";

/// Runs a manifest over one CSV file and returns the message.
fn refused(manifest: &str, rows: impl AsRef<[u8]>) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("mine.yaml", manifest);
    sandbox.write("rows.csv", rows);
    sandbox.refuse("./mine.yaml --skip-qa")
}

#[test]
fn a_manifest_named_without_its_extension_is_suggested() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.yaml", "name: mine\n");
    let message = sandbox.refuse("mine --skip-qa");
    assert!(message.contains("unknown dataset `mine`"), "{message}");
    assert!(message.contains("`evaluations mine.yaml`"), "{message}");
}

#[test]
fn rankings_cannot_be_judged_and_the_error_names_runs_with_answers() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 2 --skip-retrieval");
    sandbox.succeed("sample --limit 2 --skip-qa --profile bm25");
    let rankings = sandbox.runs()[1].display().to_string();
    let message = sandbox.refuse(&format!("rejudge {rankings} --judge embedded:overlap"));
    assert!(message.contains("is a retrieval run"), "{message}");
    let newest = message.split("the newest run with answers is `").nth(1);
    let name = newest.unwrap().split('`').next().unwrap();
    sandbox.succeed(&format!("rejudge {name} --judge embedded:overlap"));
    sandbox.succeed("rejudge latest --judge embedded:overlap");
}

#[cfg(unix)]
#[test]
fn an_endless_file_is_refused() {
    let sandbox = Sandbox::new();
    let message = sandbox.refuse("sample --skip-qa --config /dev/zero");
    let expected = "`/dev/zero` is a device; only a regular file or a pipe is read";
    assert!(message.contains(expected), "{message}");
    let message = sandbox.refuse("bench embed --texts /dev/zero");
    assert!(message.contains(expected), "{message}");
    let message = sandbox.refuse("score --qrels /dev/zero --run /dev/zero");
    assert!(message.contains(expected), "{message}");
    let large = std::fs::File::create(sandbox.write("large.trec", "")).unwrap();
    large.set_len(4_000_000_001).unwrap();
    let message = sandbox.refuse("score --qrels large.trec --run large.trec");
    assert!(message.contains("is larger than 4000 MB"), "{message}");
    std::fs::create_dir(sandbox.work().join("prompts")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", sandbox.work().join("prompts/answer.md.jinja"))
        .unwrap();
    let message = sandbox.refuse("sample --skip-retrieval --limit 1");
    assert!(
        message.contains("answer.md.jinja` is a device"),
        "{message}"
    );
}

#[test]
fn an_unknown_dataset_suggests_similar_names() {
    let message = Sandbox::new().refuse("repliqq --skip-qa");
    assert!(
        message.contains("unknown dataset `repliqq`; did you mean `repliqa`"),
        "{message}"
    );
    assert!(
        message.contains("`evaluations datasets` lists the datasets"),
        "{message}"
    );
}

#[test]
fn counts_of_zero_are_refused() {
    let sandbox = Sandbox::new();
    for option in ["--limit 0", "--k 0", "--concurrency 0", "--repeat 0"] {
        let message = sandbox.refuse(&format!("sample --skip-qa {option}"));
        assert!(message.contains("has to be at least 1"), "{message}");
    }
    assert!(
        sandbox
            .refuse("sample --skip-qa --limit many")
            .contains("not a whole number")
    );
}

#[test]
fn unknown_measures_profiles_and_formats_are_refused() {
    let sandbox = Sandbox::new();
    assert!(
        sandbox
            .refuse("sample --skip-qa --measure nDGC@10")
            .contains("nDGC")
    );
    assert!(
        sandbox
            .refuse("sample --skip-qa --profile splade")
            .contains("no search profile `splade`")
    );
    assert!(
        sandbox
            .refuse("sample --skip-qa --profile hybrd")
            .contains("each also with the suffix `+rerank`, and `all`; did you mean `hybrid`?")
    );
    assert!(
        sandbox
            .refuse("sample --skip-qa --out report.xlsx")
            .contains(".html, .json, .jsonl, .csv or .md")
    );
    assert!(
        sandbox
            .refuse("sample --skip-qa --k 5 --measure R@100")
            .contains("`--k 5`")
    );
    assert!(sandbox.runs().is_empty());
}

#[test]
fn missing_files_and_files_of_another_format_are_refused() {
    let sandbox = Sandbox::new();
    assert!(
        sandbox
            .refuse("./nowhere.yaml --skip-qa")
            .contains("nowhere.yaml")
    );
    sandbox.write("mine.yaml", MANIFEST);
    assert!(sandbox.refuse("./mine.yaml --skip-qa").contains("rows.csv"));
    sandbox.write("mine.yaml", MANIFEST.replace("rows.csv", "rows.parquet"));
    sandbox.write("rows.parquet", "this is not parquet");
    let message = sandbox.refuse("./mine.yaml --skip-qa");
    assert!(
        message.contains("rows.parquet") && message.contains("parquet"),
        "{message}"
    );
}

#[test]
fn a_missing_column_lists_the_existing_ones() {
    let message = refused(MANIFEST, "id,body,question\n1,words,what?\n");
    assert!(
        message.contains("`text`") && message.contains("`body`"),
        "{message}"
    );
}

#[test]
fn an_empty_corpus_is_refused() {
    let message = refused(MANIFEST, "id,text,question\n");
    assert!(message.contains("mine"), "{message}");
}

#[test]
fn duplicate_ids_are_named() {
    let message = refused(MANIFEST, "id,text,question\na,one,q?\na,two,r?\n");
    assert!(message.contains("`a`"), "{message}");
}

#[test]
fn text_that_is_not_utf8_names_file_and_line() {
    let message = refused(MANIFEST, b"id,text,question\na,one,q?\nb,\xff\xfe,r?\n");
    assert!(
        message.contains("rows.csv") && message.contains('3'),
        "{message}"
    );
}

#[test]
fn judgements_of_unknown_documents_are_listed_unless_allowed() {
    let manifest = MANIFEST.replace("relevant: id", "relevant: gold");
    let rows = "id,text,question,gold\na,red,what is red?,a\nb,blue,what is blue?,zz\n";
    let message = refused(&manifest, rows);
    assert!(
        message.contains("`zz`") && message.contains("--allow-missing-judged"),
        "{message}"
    );
    let sandbox = Sandbox::new();
    sandbox.write("mine.yaml", &manifest);
    sandbox.write("rows.csv", rows);
    let ended = sandbox.run("./mine.yaml --skip-qa --allow-missing-judged --profile bm25");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("warning: 1 judged document missing from the corpus or without text"),
        "{}",
        ended.stderr
    );

    let list = "id,text,question,gold\na,red,what is red?,\"a,b\"\nb,blue,what is blue?,b;a\n";
    sandbox.write("rows.csv", list);
    let message = sandbox.refuse("./mine.yaml --skip-qa --allow-missing-judged --profile bm25");
    assert!(
        message.contains("none of the documents judged relevant is in the corpus")
            && message.contains("`a,b`"),
        "{message}"
    );
}

#[test]
fn an_unclosed_quote_is_reported_where_it_opened() {
    let message = refused(
        MANIFEST,
        "id,text,question\na,red,what is red?\nb,\"blue,what is blue?\nc,green,what is green?\n",
    );
    assert!(
        message.contains("rows.csv:3: the quote that opens a field here is never closed"),
        "{message}"
    );
}

#[test]
fn a_malformed_list_of_ids_explains_the_notation_without_suggesting_allow_missing_judged() {
    let manifest = MANIFEST.replace("relevant: id", "relevant: gold");
    let rows = "id,text,question,gold\na,red,what is red?,a\nb,blue,what is there?,\"a,b\"\n";
    let message = refused(&manifest, rows);
    assert!(
        message.contains("names `a,b`; if it is a list of ids, write it as a JSON array")
            && message.contains(r#"`"[""a"", ""b""]"`"#)
            && !message.contains("--allow-missing-judged"),
        "{message}"
    );
    let sandbox = Sandbox::new();
    sandbox.write("mine.yaml", &manifest);
    sandbox.write("rows.csv", rows);
    let ended = sandbox.run("./mine.yaml --skip-qa --allow-missing-judged --profile bm25");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("warning: 1 judged document missing"),
        "{}",
        ended.stderr
    );
    // `--allow-missing-judged` does not accept malformed lists.
    sandbox.write("rows.csv", rows.replace("a,b", "['a', 'b']"));
    let message = sandbox.refuse("./mine.yaml --skip-qa --allow-missing-judged");
    assert!(
        message.contains("starts with `[` but is not a JSON array"),
        "{message}"
    );
}

#[test]
fn a_device_is_refused_as_a_source() {
    let message = refused(&MANIFEST.replace("rows.csv", "/dev/zero"), "");
    assert!(
        message.contains("`/dev/zero` is a device; a dataset must consist of regular files"),
        "{message}"
    );
}

#[test]
fn a_relative_home_folder_is_refused() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("datasets");
    let ended = ended(command.env("HOME", "elsewhere"));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .contains("which is not an absolute path; set HOME to one"),
        "{}",
        ended.stderr
    );
}

#[test]
fn questions_without_relevant_documents_are_excluded_from_means() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "mine.yaml",
        MANIFEST.replace("relevant: id", "relevant: gold"),
    );
    sandbox.write(
        "rows.csv",
        "id,text,question,gold\na,red,what is red?,a\nb,blue,what is blue?,\n",
    );
    let ended = sandbox.run("./mine.yaml --skip-qa --profile bm25");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("1 question without a relevant document"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stdout.contains("no relevant documents"),
        "{}",
        ended.stdout
    );
}

#[test]
fn documents_without_text_do_not_stop_a_run() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.yaml", MANIFEST);
    sandbox.write(
        "rows.csv",
        "id,text,question\na,red fox,what is red?\nb,blue whale,what is blue?\nc,,\n",
    );
    sandbox.succeed("./mine.yaml --skip-qa");
}

#[test]
fn a_filter_that_is_not_sql_is_refused() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("sample --skip-qa --filter");
    let message = ended(command.arg("colour = 'red'")).stderr;
    assert!(
        message.contains("colour") && message.contains("uri"),
        "{message}"
    );
}

#[test]
fn a_warning_counts_what_a_filter_and_a_limit_exclude() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("sample --skip-qa --limit 3 --filter");
    let run = ended(command.arg("uri != 'nope'"));
    assert!(
        run.stderr.contains("asking 3 of 320 questions (--limit)"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("the filter keeps 64 of 64 documents\n"),
        "{}",
        run.stderr
    );
    let mut command = sandbox.command("sample --skip-qa --limit 3 --filter");
    let run = ended(command.arg("uri < 'n'"));
    assert!(
        run.stderr
            .contains(" of 64 documents; relevant documents outside it count as not retrieved"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_filter_that_matches_nothing_is_refused() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("sample --skip-qa --filter");
    let refused = ended(command.arg("uri = 'nope'"));
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("error: no document matches `--filter uri = 'nope'`"),
        "{}",
        refused.stderr
    );
    assert!(sandbox.runs().is_empty());
}

#[test]
fn numbers_beyond_the_size_of_the_corpus_are_accepted() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&format!(
        "sample --skip-qa --limit 3 --profile bm25 --profile unranked --k {}",
        u64::MAX
    ));
    assert_eq!(sandbox.runs().len(), 2);
}

#[test]
fn skip_db_does_not_create_an_index() {
    let sandbox = Sandbox::new();
    let message = sandbox.refuse("sample --skip-qa --skip-db --db typo.lancedb");
    assert!(message.contains("typo.lancedb"), "{message}");
    assert!(!sandbox.work().join("typo.lancedb").exists());
}

#[test]
fn an_impossible_out_file_is_refused_before_the_run() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.work().join("folder.md")).unwrap();
    assert!(
        sandbox
            .refuse("sample --skip-qa --out folder.md")
            .contains("`--out folder.md` is a folder")
    );
    assert!(
        sandbox
            .refuse("sample --skip-qa --name=")
            .contains("--name")
    );
    assert!(
        sandbox
            .refuse("sample --skip-qa --skip-retrieval --out a.md")
            .contains("`--out` has nothing to write")
    );
    assert!(sandbox.runs().is_empty());
}

#[test]
fn offline_an_uncached_hub_dataset_explains_how_to_get_it() {
    let message = Sandbox::new().refuse("beir:scifact --skip-qa");
    assert!(message.contains("mteb/scifact"), "{message}");
    assert!(message.contains("HF_HUB_OFFLINE"), "{message}");
    assert!(!message.contains("did you mean"), "{message}");
    let misspelt = Sandbox::new().refuse("beir:scifct --skip-qa");
    assert!(
        misspelt.contains("`beir:scifct`; did you mean `beir:scifact`?"),
        "{misspelt}"
    );
}

#[test]
fn an_unreachable_hub_is_named_once() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("beir:scifact --skip-qa");
    // Nothing listens on the discard port of loopback.
    command
        .env_remove("HF_HUB_OFFLINE")
        .env("HF_ENDPOINT", "http://127.0.0.1:9");
    let quiet = ended(&mut command);
    assert_eq!(quiet.code, Some(2));
    assert!(
        quiet.stderr.starts_with(
            "error: cannot get dataset `beir:scifact`\n  caused by: cannot connect to `http://127.0.0.1:9`\n  \
             caused by: Connection refused"
        ),
        "{}",
        quiet.stderr
    );
    assert_eq!(quiet.stderr.matches("127.0.0.1").count(), 1);
    let verbose = ended(command.arg("--verbose"));
    assert_eq!(
        verbose.stderr.matches("no connection: ").count(),
        4,
        "each attempt is reported: {}",
        verbose.stderr
    );
}
