//! The README and the pages of docs/: examples print what the pages show, and links have targets.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::init::Service;
use crate::sandbox::{Sandbox, wait_for};
use crate::scripted_server::{Reaction, ScriptedServer};

#[test]
fn the_readme_shows_tables_as_they_are_printed() {
    let shown = blocks(&page("README.md"), "text");
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed("sample --skip-qa");
    assert!(printed.contains(&shown[0]), "{printed}");
    sandbox.succeed("init");
    let printed = sandbox.succeed("./dataset.yaml --skip-qa");
    assert!(printed.contains(&shown[1]), "{printed}");
}

#[test]
fn the_commands_of_the_readme_say_whether_a_change_made_a_service_better() {
    let commands = blocks(&page("README.md"), "bash");
    let commands = commands.iter().find(|block| block.contains("--target"));
    let commands = commands.expect("the README tests a service");
    let commands: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("evaluations ")?.split(" #").next())
        .collect();
    let [export, before, after, compare] = commands.as_slice() else {
        panic!("{commands:?}");
    };
    let sandbox = Sandbox::new();
    sandbox.succeed(export);
    let documents = fs::read_to_string(sandbox.work().join("corpus/documents.jsonl")).unwrap();
    let documents: Vec<String> = documents
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|document| document["id"].as_str().unwrap().to_owned())
        .collect();
    let is_changed = Arc::new(AtomicBool::new(false));
    let searches = Arc::clone(&is_changed);
    let service = ScriptedServer::start(move |request, _| {
        // The id of a question begins with that of its document.
        let question = request.body["id"].as_str().unwrap();
        let mut ids: Vec<&String> = documents.iter().collect();
        if searches.load(Ordering::Relaxed) {
            ids.sort_by_key(|id| !question.starts_with(*id));
        }
        ids.truncate(5);
        Reaction::json(200, &json!({"answer": "In May.", "documents": ids}))
    });
    let here = |line: &str| line.replace("http://localhost:8000", &service.ollama_url());
    sandbox.succeed(&here(before));
    is_changed.store(true, Ordering::Relaxed);
    sandbox.succeed(&here(after));
    assert_eq!(service.received_at("/ask").len(), 2 * 320);
    let compared = sandbox.succeed(compare);
    let better = compared
        .lines()
        .any(|line| line.starts_with("MRR@5") && line.ends_with(" better"));
    assert!(better, "{compared}");
}

#[test]
fn the_quick_start_shows_figures_as_they_are_printed() {
    let sandbox = Sandbox::new();
    let guide = page("docs/quick-start.md");
    let shown = blocks(&guide, "text");
    let commands = blocks(&guide, "bash");
    let commands = commands
        .iter()
        .filter_map(|block| block.trim().strip_prefix("evaluations sample"));
    for (shown, options) in shown.iter().zip(commands) {
        let printed = sandbox.succeed(&format!("sample{options}"));
        for line in shown.lines().filter(|line| !is_about_time(line)) {
            assert!(printed.contains(line), "`{line}` is not in:\n{printed}");
        }
    }
}

#[test]
fn the_examples_of_your_data_run_as_shown() {
    let guide = page("docs/your-data.md");
    let [tables, manifests] = ["csv", "yaml"].map(|language| blocks(&guide, language));
    let sandbox = Sandbox::new();
    sandbox.write("articles.csv", &tables[0]);
    sandbox.write("questions.csv", &tables[1]);
    sandbox.write("mine.yaml", &manifests[0]);
    let printed = sandbox.succeed("run ./mine.yaml --skip-qa");
    let shown = &blocks(&guide, "text")[0];
    for line in shown.lines().filter(|line| !is_about_time(line)) {
        assert!(printed.contains(line), "`{line}` is not in:\n{printed}");
    }
    // An omitted `retrieval` section has the same defaults.
    sandbox.write("mine.yaml", manifests[0].clone() + &manifests[1]);
    let same = sandbox.succeed("run ./mine.yaml --skip-qa");
    assert_eq!(measures(&same), measures(&printed));
    sandbox.write("mine.yaml", manifests[0].clone() + &manifests[2]);
    let clustered = sandbox.succeed("run ./mine.yaml --skip-qa");
    assert_eq!(measures(&clustered), measures(&printed));

    let mistyped = manifests[0].replace(": relevant", ": relevent");
    sandbox.write("mine.yaml", mistyped);
    let message = sandbox.refuse("run ./mine.yaml --skip-qa");
    assert_eq!(message, blocks(&guide, "text")[1]);

    sandbox.write("mine.yaml", &manifests[0]);
    sandbox.write("questions.csv", tables[1].replace("invoice", "invioce"));
    let validated = sandbox.run("validate ./mine.yaml");
    assert_eq!(validated.stdout, blocks(&guide, "text")[2]);

    let documents = manifests[0].split("questions:").next().unwrap();
    sandbox.write("mine.yaml", &manifests[0]);
    sandbox.write("questions.csv", &tables[2]);
    sandbox.succeed("run ./mine.yaml --skip-qa");
    sandbox.write("questions.csv", &tables[4]);
    sandbox.write("grades.csv", &tables[3]);
    sandbox.write("mine.yaml", documents.to_owned() + &manifests[3]);
    sandbox.succeed("run ./mine.yaml --skip-qa");
    sandbox.write(
        "mine.yaml",
        documents.to_owned() + &manifests[4] + &manifests[5] + &manifests[6],
    );
    let printed = sandbox.succeed("run ./mine.yaml");
    assert!(
        printed.contains("\nexcluded: 1 × unanswerable (every measure)\n"),
        "{printed}"
    );
}

#[test]
fn the_examples_of_dataset_files_are_valid() {
    let guide = page("docs/dataset-files.md");
    let sandbox = Sandbox::new();
    sandbox.write("cases.yaml", &blocks(&guide, "yaml")[0]);
    sandbox.write("lines.jsonl", &blocks(&guide, "json")[0]);
    assert_eq!(
        sandbox.succeed("validate cases.yaml lines.jsonl"),
        "cases.yaml: dataset file with 2 cases and 5 evaluators\n\
         lines.jsonl: dataset file with 1 case and 1 evaluator\n"
    );
}

#[test]
fn the_example_of_export_prints_what_the_page_shows() {
    let guide = page("docs/export.md");
    let command = blocks(&guide, "bash").swap_remove(0);
    let exported = Sandbox::new().run(command.trim_start_matches("evaluations"));
    assert_eq!(exported.stderr, blocks(&guide, "text")[0]);
}

#[test]
fn the_examples_of_groups_print_what_the_page_shows() {
    let guide = page("docs/groups.md");
    let sandbox = Sandbox::new();
    sandbox.write("topics.yaml", &blocks(&guide, "yaml")[0]);
    let stories = fs::read(root().join("datasets/sample.parquet")).unwrap();
    sandbox.write("datasets/sample.parquet", stories);
    let commands = blocks(&guide, "bash");
    let shown = blocks(&guide, "text");
    assert_eq!((commands.len(), shown.len()), (3, 3));
    for (commands, shown) in commands.iter().zip(shown) {
        let commands = commands
            .lines()
            .filter_map(|line| line.strip_prefix("evaluations ")?.split(" #").next());
        let printed: String = commands.map(|line| sandbox.succeed(line)).collect();
        for line in shown.lines().filter(|line| !is_about_time(line)) {
            assert!(printed.contains(line), "`{line}` is not in:\n{printed}");
        }
    }
}

#[test]
fn the_table_of_the_test_of_a_gate_is_printed_as_the_page_shows() {
    let guide = page("docs/gate.md");
    let (_, section) = guide.split_once("## Test the gate itself").unwrap();
    let commands = blocks(section, "bash").swap_remove(0);
    let sandbox = Sandbox::new();
    let commands = commands
        .lines()
        .map(|line| line.strip_prefix("evaluations "));
    let printed: String = commands
        .map(|line| sandbox.succeed(line.unwrap()))
        .collect();
    let shown = &blocks(section, "text")[0];
    assert!(printed.contains(shown), "{printed}");
}

/// Needs a `python3` with the packages `bm25s`, `fastapi` and `uvicorn`.
#[test]
fn the_service_around_a_library_is_measured() {
    let mut packages = Command::new("python3");
    packages.args(["-c", "import bm25s, fastapi, uvicorn"]);
    let is_there = packages.stderr(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: `python3` has no `bm25s`, no `fastapi` or no `uvicorn`");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.succeed("export sample --to corpus");
    let python = blocks(&page("docs/targets.md"), "python");
    let block = |with: &str| python.iter().find(|block| block.contains(with)).unwrap();
    let of_documents = block("fastapi");
    let paragraphs = format!("{}\nindex = ", block("split(").trim_end());
    let of_paragraphs = of_documents.replace("index = ", &paragraphs);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    for (module, service) in [("documents", of_documents), ("paragraphs", &of_paragraphs)] {
        sandbox.write(&format!("{module}.py"), service);
        let mut server = Command::new("python3");
        server.args(["-m", "uvicorn", &format!("{module}:app"), "--port"]);
        server.arg(address.port().to_string());
        server.stdout(Stdio::null()).stderr(Stdio::null());
        let _service = Service(server.current_dir(sandbox.work()).spawn().unwrap());
        wait_for("the service", || TcpStream::connect(address).is_ok());
        let printed = sandbox.succeed(&format!("sample --skip-qa --target http://{address}/ask"));
        assert!(printed.contains("matched (1600 by id)"), "{printed}");
    }
    let printed = sandbox.succeed("compare");
    let readme = page("README.md");
    let table = blocks(&readme, "text").into_iter();
    let table: String = table.filter(|block| block.contains("Verdict")).collect();
    assert!(table.lines().count() > 2);
    for line in table.lines() {
        assert!(printed.contains(line), "`{line}` is not in:\n{printed}");
    }
}

/// Those of other datasets need their data, and models.
#[test]
fn the_tables_and_figures_of_the_samples_are_those_of_their_runs() {
    let sandbox = Sandbox::new();
    let is_of_samples = |marker: &str| {
        let mut words = marker.split_whitespace();
        words.any(|word| ["sample", "sample-support"].contains(&word))
    };
    let mut figures = 0;
    for page_path in ["docs/quick-start.md", "docs/benchmarks.md"] {
        let text = page(page_path);
        let regions = text.split("<!-- evaluations ").skip(1);
        let regions = regions.filter(|region| is_of_samples(region.lines().next().unwrap()));
        let regions: Vec<String> = regions
            .map(|region| format!("<!-- evaluations {region}<!-- evaluations end -->\n"))
            .collect();
        figures += regions.iter().filter(|it| it.contains(".svg)")).count();
        sandbox.write(page_path, regions.concat());
    }
    assert!(figures >= 1, "{figures}");
    for entry in fs::read_dir(root().join("docs/figures")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        sandbox.write(&format!("docs/figures/{name}"), fs::read(&path).unwrap());
    }
    sandbox.succeed("sample --profile all");
    sandbox.succeed("sample-support --profile all --skip-qa");
    for page_path in ["docs/quick-start.md", "docs/benchmarks.md"] {
        let checked = sandbox.run(&format!("table --update {page_path} --check"));
        assert_eq!(checked.code, Some(0), "{page_path}: {}", checked.stderr);
    }
}

#[test]
fn the_summary_names_every_page() {
    let summary = page("docs/SUMMARY.md");
    let named: Vec<&str> = links(&summary).collect();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_page =
            name != "SUMMARY.md" && Path::new(&name).extension().is_some_and(|it| it == "md");
        assert!(!is_page || named.contains(&name.as_str()), "{name}");
    }
}

/// Needs Python; without it the test says that it is skipped.
#[test]
fn the_tutorial_shows_what_its_commands_print() {
    let is_there = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !is_there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no `python3`");
        return;
    }
    let guide = page("docs/tutorial.md");
    let sandbox = Sandbox::new();
    copy_folder(&root().join("docs/examples/tutorial"), &sandbox.work());
    // Another process may have the usual port.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let edit = |file: &str, before: &str, after: &str| {
        let text = fs::read_to_string(sandbox.work().join(file)).unwrap();
        assert!(text.contains(before), "`{before}` is not in:\n{text}");
        sandbox.write(file, text.replace(before, after));
    };
    edit("service.py", "8000", &port.to_string());
    edit("target.yaml", "8000", &port.to_string());
    let start = || {
        let mut python = Command::new("python3");
        python.arg("service.py").stderr(Stdio::null());
        let service = Service(python.current_dir(sandbox.work()).spawn().unwrap());
        wait_for("the service", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        service
    };
    let mut service = start();
    let mut changes = blocks(&guide, "diff").into_iter();
    // The first block starts the service, and the last one needs a key.
    let commands = blocks(&guide, "bash");
    let commands = &commands[1..commands.len() - 1];
    let shown = blocks(&guide, "text");
    assert_eq!(shown.len(), commands.len() + 1);
    for (commands, shown) in commands.iter().zip(shown) {
        if commands.contains("compare") {
            let change = changes.next().expect("a change to compare");
            drop(service);
            edit("service.py", &side(&change, '-'), &side(&change, '+'));
            service = start();
        }
        let commands = commands.lines();
        let commands = commands.filter_map(|line| line.strip_prefix("evaluations "));
        let printed: String = commands.map(|line| sandbox.succeed(line)).collect();
        let printed = printed.replace(&format!("127.0.0.1:{port}"), "127.0.0.1:8000");
        for line in shown.lines().filter(|line| !is_about_time(line)) {
            assert!(printed.contains(line), "`{line}` is not in:\n{printed}");
        }
    }
    drop(service);
    assert_eq!(changes.next(), None);
}

#[test]
fn the_page_on_the_number_of_questions_shows_what_is_printed() {
    let guide = page("docs/how-many-questions.md");
    let sandbox = Sandbox::new();
    let shown = blocks(&guide, "text");
    assert_eq!(shown.len(), 2);
    for (commands, shown) in blocks(&guide, "bash").iter().zip(shown) {
        let commands = commands.lines();
        let commands = commands.filter_map(|line| line.strip_prefix("evaluations "));
        let printed: String = commands.map(|line| sandbox.succeed(line)).collect();
        assert!(printed.contains(&shown), "{printed}");
    }
}

#[test]
fn the_examples_of_other_tools_run() {
    let guide = page("docs/coming-from.md");
    let sandbox = Sandbox::new();
    for (file, language) in [
        ("records.jsonl", "json"),
        ("target.yaml", "yaml"),
        ("tests.csv", "csv"),
    ] {
        sandbox.write(file, &blocks(&guide, language)[0]);
    }
    let printed = sandbox.succeed("eval records.jsonl");
    for row in ["TokenF1 0.5000  Tram 6.", "TokenF1 1.0000  Four days."] {
        assert!(printed.contains(row), "{printed}");
    }
    let checked = sandbox.succeed("validate tests.csv");
    assert_eq!(
        checked,
        "tests.csv: dataset file with 2 cases and 2 evaluators\n"
    );
}

/// Copies a folder with everything in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).unwrap();
        }
    }
}

/// The lines of a diff before (`-`) or after (`+`) the change.
fn side(diff: &str, sign: char) -> String {
    let lines = diff.lines().filter(|line| line.starts_with([' ', sign]));
    lines.flat_map(|line| [&line[1..], "\n"]).collect()
}

#[test]
fn links_between_pages_have_targets() {
    let pages: BTreeMap<PathBuf, String> = paths()
        .into_iter()
        .map(|path| {
            let text = without_blocks(&fs::read_to_string(&path).unwrap());
            (path.canonicalize().unwrap(), text)
        })
        .collect();
    assert!(pages.len() > 10, "{:?}", pages.keys());
    for (path, text) in &pages {
        for link in links(text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = path.parent().unwrap();
            let target = match file {
                "" => path.clone(),
                file => folder
                    .join(file)
                    .canonicalize()
                    .unwrap_or_else(|error| panic!("{}: `{link}`: {error}", path.display())),
            };
            if !heading.is_empty() {
                let page = &pages[&target];
                let mut headings = page.lines().filter_map(anchor);
                assert!(
                    headings.any(|anchor| anchor == heading),
                    "{}: no heading for `{link}`",
                    path.display()
                );
            }
        }
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[cfg(unix)]
#[test]
fn the_example_of_dataset_files_runs_as_shown() {
    let guide = page("docs/eval.md");
    let sandbox = Sandbox::new();
    sandbox.write("capitals.yaml", &blocks(&guide, "yaml")[0]);
    sandbox.write("capitals.sh", &blocks(&guide, "sh")[0]);
    let run = |options: &str| {
        let mut command = sandbox.command("eval capitals.yaml --no-progress");
        command.args(["--target", "exec:sh capitals.sh"]);
        let ended = crate::sandbox::ended(command.args(options.split_whitespace()));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    let printed = run("--reasons");
    let shown = &blocks(&guide, "text")[0];
    for line in shown.lines().filter(|line| !is_about_time(line)) {
        let mut lines = printed.lines();
        assert!(lines.any(|it| it == line), "`{line}` is not in:\n{printed}");
    }
    run("--out report.csv --out report.pydantic.json");
    for file in ["report.csv", "report.pydantic.json"] {
        assert!(sandbox.work().join(file).is_file(), "{file}");
    }
}

#[test]
fn the_commands_of_the_page_on_scoring_print_what_it_shows() {
    let page = page("docs/score.md");
    let sandbox = Sandbox::new();
    for (file, content) in ["qrels.trec", "bm25.trec", "dense.trec"]
        .into_iter()
        .zip(blocks(&page, "trec"))
    {
        sandbox.write(file, &content);
    }
    let commands = blocks(&page, "bash");
    let mut shown = blocks(&page, "text").into_iter();
    assert_eq!(commands.len(), 4);
    for command in commands {
        let command = command.strip_prefix("evaluations ").unwrap().trim_end();
        let printed = sandbox.succeed(command);
        match shown.next() {
            Some(shown) => assert!(printed.starts_with(&shown), "{command}\n{printed}"),
            None => assert!(command.starts_with("score fuse "), "{command}"),
        }
    }
    let fused = fs::read_to_string(sandbox.work().join("fused.trec")).unwrap();
    assert!(fused.starts_with("q1 Q0 d3 1 "), "{fused}");
}

pub(crate) fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The README and every page of docs/.
fn paths() -> Vec<PathBuf> {
    let mut paths = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
        .map(|name| root().join(name))
        .to_vec();
    let guide = fs::read_dir(root().join("docs")).unwrap();
    let guide = guide.map(|entry| entry.unwrap().path());
    paths.extend(guide.filter(|path| path.extension().is_some_and(|it| it == "md")));
    paths
}

/// The code blocks in `language`.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut blocks: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        if is_inside && line == "```" {
            is_inside = false;
        } else if is_inside {
            let block = blocks.last_mut().unwrap();
            block.push_str(line);
            block.push('\n');
        } else if line == fence {
            blocks.push(String::new());
            is_inside = true;
        }
    }
    blocks
}

fn without_blocks(page: &str) -> String {
    let parts = page.split("```");
    parts.step_by(2).collect()
}

/// The targets of a page's links, except those to other sites.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.starts_with("http"))
}

/// The anchor of a heading.
fn anchor(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#');
    let heading = (heading.len() < line.len()).then(|| heading.strip_prefix(' '))??;
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
        _ => None,
    });
    Some(kept.collect::<String>().to_lowercase())
}

/// Whether a line of output depends on time, or is an ellipsis for omitted lines.
fn is_about_time(line: &str) -> bool {
    let of_latency = [" µs", " ms", "cases · ", "Latency"];
    line == "…"
        || line.starts_with('─')
        || line.ends_with(" Time")
        || of_latency.iter().any(|part| line.contains(part))
}

/// The lines of a table of measures.
fn measures(printed: &str) -> Vec<&str> {
    printed.lines().filter(|line| line.contains('[')).collect()
}
