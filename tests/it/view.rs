//! `evaluations view`: whose requests it answers, and what the pages show.

use std::fs;
use std::time::{Duration, Instant};

use crate::qa_server::{self, KEY};
use crate::sandbox::{Sandbox, json, wait_for};
use crate::viewer::{Answer, Viewer};

/// A sandbox with one finished retrieval run.
fn with_run() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 5 --skip-qa --profile bm25");
    sandbox
}

fn name(sandbox: &Sandbox, place: usize) -> String {
    let runs = sandbox.runs();
    runs[place]
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

#[test]
fn the_printed_address_leads_to_the_runs_and_no_answer_sets_a_cookie() {
    let sandbox = with_run();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open --port 0"));
    let token = viewer.token();
    assert_eq!(token.len(), 32);
    let address = format!("http://127.0.0.1:{}/{token}/", viewer.port());
    assert_eq!(viewer.address(), address);

    // Also where a page of another site, such as a chat, led to it.
    for site in ["none", "cross-site"] {
        let headers = [("Host", &*viewer.host()), ("Sec-Fetch-Site", site)];
        let runs = viewer.ask("GET", &viewer.path("/"), &headers, "");
        assert_eq!(runs.status, 200);
        assert!(runs.body.contains(&name(&sandbox, 0)), "{}", runs.body);
        assert!(runs.body.contains("MRR@5"), "{}", runs.body);
        // A browser would send it to every other server on this machine.
        assert_eq!(runs.header("set-cookie"), None);
        assert!(!runs.body.contains(token));
    }
}

#[test]
fn a_request_without_the_token_in_its_path_is_refused() {
    let sandbox = with_run();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let (host, token) = (viewer.host(), viewer.token());
    let cookie = format!("evaluations-{}={token}", viewer.port());
    let zeros = "0".repeat(32);
    for page in [
        "/",
        "/trend",
        "/assets/view.css",
        "/nothing",
        &format!("/run/{}", name(&sandbox, 0)),
    ] {
        for path in [
            page.to_owned(),
            format!("/{zeros}{page}"),
            format!("/{}{page}", &token[1..]),
            format!("/{token}0{page}"),
            format!("{page}?token={token}"),
        ] {
            let headers = [("Host", &*host), ("Cookie", &cookie)];
            let refused = viewer.ask("GET", &path, &headers, "");
            assert_eq!(refused.status, 403, "{path}");
            let sentence = "Open the address that `evaluations view` printed";
            assert!(refused.body.contains(sentence), "{}", refused.body);
            assert_eq!(refused.header("set-cookie"), None);
        }
    }
}

#[test]
fn another_host_is_refused_before_anything_else() {
    let sandbox = with_run();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let port = viewer.port();
    let path = viewer.path("/");
    let others = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
    ];
    for host in &others {
        let answer = viewer.ask("GET", &path, &[("Host", host)], "");
        assert_eq!(answer.status, 403, "{host}");
        assert!(
            answer.body.contains("this machine's own address"),
            "{}",
            answer.body
        );
    }
    let twice = [("Host", viewer.host()), ("Host", "evil.example".to_owned())];
    let twice: Vec<(&str, &str)> = twice
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    assert_ne!(viewer.ask("GET", &path, &twice, "").status, 200);
    for host in [format!("localhost:{port}"), format!("[::1]:{port}")] {
        let answer = viewer.ask("GET", &path, &[("Host", &host)], "");
        assert_eq!(answer.status, 200, "{host}");
    }
}

#[test]
fn every_answer_is_protected_and_none_allows_other_sites() {
    let sandbox = with_run();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let refused = viewer.ask("GET", "/", &[("Host", "evil.example")], "");
    let run = format!("/run/{}", name(&sandbox, 0));
    let answers = [
        "/",
        "/trend",
        "/assets/view.css",
        "/nothing",
        "/compare",
        &run,
    ];
    let answers = answers.map(|path| viewer.get(path)).into_iter();
    for answer in answers.chain([refused]) {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert!(
            !answer.head.to_lowercase().contains("access-control"),
            "{}",
            answer.head
        );
    }
    let preflight = [
        ("Host", viewer.host()),
        ("Origin", "http://evil.example".to_owned()),
        ("Access-Control-Request-Method", "POST".to_owned()),
    ];
    let preflight: Vec<(&str, &str)> = preflight
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    let answer = viewer.ask("OPTIONS", &viewer.path("/"), &preflight, "");
    assert_eq!(answer.status, 403);
    let reads: Vec<(&str, &str)> = preflight[..2].to_vec();
    assert_eq!(
        viewer.ask("GET", &viewer.path(&run), &reads, "").status,
        403
    );
    assert!(
        !answer.head.to_lowercase().contains("access-control"),
        "{}",
        answer.head
    );
}

#[test]
fn a_request_that_writes_needs_the_marks_of_our_own_pages() {
    let sandbox = with_run();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let (host, path) = (viewer.host(), viewer.path("/"));
    let ours = format!("http://{host}");
    let post = |origin: &str, media_type: &str, site: &str| {
        let headers = [
            ("Host", host.as_str()),
            ("Origin", origin),
            ("Content-Type", media_type),
            ("X-Evaluations-View", "1"),
            ("Sec-Fetch-Site", site),
        ];
        viewer.ask("POST", &path, &headers, "{}").status
    };
    // The list of runs has nothing to write, which only a request that the guard lets through learns.
    assert_eq!(post(&ours, "application/json", "same-origin"), 405);
    assert_eq!(
        post("http://evil.example", "application/json", "same-origin"),
        403
    );
    assert_eq!(post("null", "application/json", "same-origin"), 403);
    assert_eq!(post(&ours, "text/plain", "same-origin"), 403);
    assert_eq!(post(&ours, "application/json", "cross-site"), 403);
    let bare = [("Host", host.as_str())];
    assert_eq!(viewer.ask("POST", &path, &bare, "{}").status, 403);
}

#[test]
fn a_name_opens_only_a_listed_run() {
    let sandbox = with_run();
    let run = name(&sandbox, 0);
    fs::write(sandbox.data().join("secret.txt"), "not a run").unwrap();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    for path in [
        "/run/nothing".to_owned(),
        "/run/..".to_owned(),
        "/run/%2e%2e".to_owned(),
        "/run/..%2f..%2fsecret.txt".to_owned(),
        format!("/run/{run}%2f..%2f..%2fsecret.txt"),
        format!("/run/..%2fruns%2f{run}"),
        format!("/run/{run}/../../../secret.txt"),
        "/assets/..%2f..%2fCargo.toml".to_owned(),
        "/run/%00".to_owned(),
        "//run/x".to_owned(),
        format!("/run/{run}/progress/x"),
    ] {
        let answer = viewer.get(&path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
        assert!(!answer.body.contains("not a run"), "{path}");
    }
    assert_eq!(viewer.get(&format!("/run/{run}")).status, 200);
    assert_eq!(viewer.get("/run/%ff").status, 400);
}

#[test]
fn an_address_that_cannot_be_read_is_refused_on_a_page() {
    let sandbox = with_run();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    for (path, up) in [
        ("/run/%ff".to_owned(), "../"),
        ("/?dataset=a&dataset=b".to_owned(), "./"),
        (
            format!("/run/{}/label?measure=a&measure=b", name(&sandbox, 0)),
            "../../",
        ),
    ] {
        let answer = viewer.get(&path);
        assert_eq!(answer.status, 400, "{path}");
        assert!(
            answer.body.contains("This does not work"),
            "{path}: {}",
            answer.body
        );
        let body = answer.body.replace("&#x2f;", "/");
        assert!(body.contains(&format!("<a href=\"{up}\">All runs</a>")));
    }
    let queue = format!(
        "/run/{}/label/queue?labeller=me&method=random&size=many&seed=1",
        name(&sandbox, 0)
    );
    let answer = viewer.get(&queue);
    assert_eq!(answer.status, 400);
    let reply: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    let message = reply["message"].as_str().unwrap();
    assert!(message.contains("size"), "{message}");
}

#[test]
fn runs_over_other_questions_are_not_one_line() {
    let sandbox = with_run();
    sandbox.succeed("sample --limit 4 --skip-qa --profile bm25");
    sandbox.succeed("sample --limit 4 --skip-qa --profile bm25");
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let page = viewer.get("/").body;
    let row = page.split("<tr>").nth(2).unwrap();
    assert!(row.contains(&name(&sandbox, 2)), "{row}");
    assert_eq!(row.matches("<polyline").count(), 2, "{row}");
    let before = page.split("<tr>").nth(3).unwrap();
    assert!(before.contains("other questions"), "{before}");
    let trend = viewer
        .get("/trend?dataset=sample&benchmark=retrieval&profile=bm25")
        .body;
    let rows: Vec<&str> = trend.split("<tr>").skip(2).collect();
    assert_eq!(rows.len(), 3);
    let broken = rows.iter().map(|row| row.contains("other questions"));
    assert_eq!(broken.collect::<Vec<_>>(), [false, true, false], "{trend}");
}

#[test]
fn broken_and_foreign_folders_are_listed_with_the_reason() {
    let sandbox = with_run();
    let runs = sandbox.data().join("runs");
    fs::create_dir(runs.join("notes")).unwrap();
    let broken = runs.join("29990101T000000.000Z-<b>broken");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("manifest.json"), "{").unwrap();
    let torn = runs.join("29990102T000000.000Z-torn");
    fs::create_dir(&torn).unwrap();
    fs::copy(
        sandbox.runs()[0].join("manifest.json"),
        torn.join("manifest.json"),
    )
    .unwrap();
    fs::write(torn.join("report.json"), "{").unwrap();

    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let page = viewer.get("/");
    assert_eq!(page.status, 200);
    for expected in [
        "a folder without <code>manifest.json</code>, so it is not a run",
        "&lt;b&gt;broken",
        "is damaged or in a format that this version does not read",
        "<code>29990102T000000.000Z-torn</code>: <code>report.json</code> of run",
    ] {
        assert!(page.body.contains(expected), "{expected}: {}", page.body);
    }
    let torn = viewer.get("/run/29990102T000000.000Z-torn");
    assert_eq!(torn.status, 422, "{}", torn.body);
    assert!(torn.body.contains("is damaged"), "{}", torn.body);
}

#[test]
fn the_list_shows_the_change_against_the_run_before() {
    let sandbox = with_run();
    sandbox.succeed("sample --limit 5 --skip-qa --profile bm25 --k 2");
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let page = viewer.get("/").body;
    let [before, after] = [0, 1].map(|place| name(&sandbox, place));
    let link = format!("\".&#x2f;compare?before={before}&amp;after={after}");
    assert!(page.contains(&link), "{page}");
    let newest = page.find(&after).unwrap();
    assert!(
        newest < page.find(&before).unwrap(),
        "the newest run comes first"
    );

    let trends = viewer.get("/trend").body;
    assert!(
        trends.contains("dataset=sample&amp;benchmark=retrieval&amp;profile=bm25"),
        "{trends}"
    );
    let trend = viewer
        .get("/trend?dataset=sample&benchmark=retrieval&profile=bm25")
        .body;
    assert!(trend.contains("<svg"), "{trend}");
    assert!(
        trend.contains("<li>search.limit: 5 -&gt; 2</li>"),
        "{trend}"
    );
    let unknown = viewer.get("/trend?dataset=none&benchmark=retrieval&profile=bm25");
    assert_eq!(unknown.status, 400);
}

#[test]
fn a_finished_run_and_a_comparison_are_the_pages_of_the_files_below_links_to_the_list() {
    let sandbox = with_run();
    sandbox.succeed("sample --limit 5 --skip-qa --profile bm25 --set search.limit=4");
    let [before, after] = [0, 1].map(|place| name(&sandbox, place));
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let run = viewer.get(&format!("/run/{after}"));
    let change = viewer.get(&format!("/compare?before={before}&after={after}"));
    sandbox.succeed(&format!("report {after} --out run.html"));
    sandbox.succeed(&format!("compare {before} {after} --out change.html"));
    for (answer, file) in [(&run, "run.html"), (&change, "change.html")] {
        assert_eq!(answer.status, 200, "{}", answer.body);
        let written = fs::read_to_string(sandbox.work().join(file)).unwrap();
        let (start, rest) = answer.body.split_once("<nav class=\"pages\"").unwrap();
        let (links, end) = rest.split_once("</nav>").unwrap();
        let links = links.replace("&#x2f;", "/");
        let up = if file == "run.html" { "../" } else { "./" };
        for link in [format!("href=\"{up}\""), format!("href=\"{up}trend\"")] {
            assert!(links.contains(&link), "{links}");
        }
        assert!(format!("{start}{end}") == written, "{file} differs");
        let compare = format!("href=\"../compare?before={before}&amp;after={after}\"");
        assert_eq!(links.contains(&compare), file == "run.html", "{links}");
        assert!(!links.contains("/label"), "{links}");
        // Script and style are part of the page, and its policy names them.
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("script-src 'sha256-"), "{policy}");
        let own = policy.strip_suffix("; frame-ancestors 'none'").unwrap();
        assert!(written.contains(&format!("content=\"{own}\"")), "{own}");
    }
    for (path, status) in [
        ("/compare".to_owned(), 400),
        (format!("/compare?before={before}&after=nothing"), 404),
        (format!("/compare?before={before}&after={before}"), 422),
    ] {
        assert_eq!(viewer.get(&path).status, status, "{path}");
    }
}

#[test]
fn a_running_run_is_on_its_page_within_two_seconds() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(400));
    qa_server::write(&sandbox, 40, &server);
    let mut settings = qa_server::settings(&server);
    settings["evaluations"]["concurrency"] = 1.into();
    sandbox.write("settings.yaml", settings.to_string());
    let mut running = qa_server::command(&sandbox, "--quiet").spawn().unwrap();
    let journal = || sandbox.runs().first().map(|run| run.join("journal.jsonl"));
    let lines = || {
        let text = journal().and_then(|path| fs::read_to_string(path).ok());
        text.map_or(0, |text| text.lines().count())
    };
    wait_for("a finished case", || lines() > 1);

    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let run = name(&sandbox, 0);
    let list = viewer.get("/").body;
    assert!(list.contains("running"), "{list}");
    let page = viewer.get(&format!("/run/{run}")).body;
    assert!(page.contains("data-stream"), "{page}");
    assert!(page.contains("while a run is running"), "{page}");
    for word in ["p =", "p-value", "significant"] {
        assert!(!page.contains(word), "{page}");
    }

    let mut stream = viewer.follow(&format!("/run/{run}/progress"));
    let finished = |event: &str| -> Option<u64> {
        let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
        let progress: serde_json::Value = serde_json::from_str(data).ok()?;
        progress["cases"][0].as_u64()
    };
    for _ in 0..3 {
        // The header is the first line of a journal.
        let stored = u64::try_from(lines()).unwrap();
        let asked = Instant::now();
        let wanted = stored;
        let mut shown = 0;
        while shown < wanted {
            let event = stream.event();
            assert!(event.contains("event: progress"), "{event}");
            shown = finished(&event).unwrap();
            assert!(
                asked.elapsed() < Duration::from_secs(2),
                "{shown} of {wanted}"
            );
        }
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let mut last = stream.event();
    while last.contains("event: progress") {
        last = stream.event();
    }
    // Browsers drop an event without data.
    assert!(
        last.contains("event: ended") && last.contains("data: "),
        "{last}"
    );
    let page = viewer.get(&format!("/run/{run}")).body;
    assert!(
        page.contains("run the original command again to resume it"),
        "{page}"
    );
    assert!(
        !page.contains("data-stream") && !page.contains(KEY) && !page.contains("while a run"),
        "{page}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_server_though_a_page_follows_the_list() {
    let sandbox = with_run();
    let mut viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let page = viewer.get("/").body;
    let stream = page.split("data-changes=\"").nth(1).unwrap();
    let stream = stream.split('"').next().unwrap().replace("&#x2f;", "/");
    let stream = stream.strip_prefix('.').unwrap();
    let _open = viewer.follow(stream);
    let began = Instant::now();
    assert_eq!(viewer.interrupt(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_changed_list_is_reported() {
    let sandbox = with_run();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let page = viewer.get("/").body;
    let stream = page.split("data-changes=\"").nth(1).unwrap();
    let stream = stream.split('"').next().unwrap().replace("&#x2f;", "/");
    let stream = stream.strip_prefix('.').unwrap();
    let mut open = viewer.follow(stream);
    let copy = sandbox.data().join("runs/29990101T000000.000Z-copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(
        sandbox.runs()[0].join("manifest.json"),
        copy.join("manifest.json"),
    )
    .unwrap();
    let event = open.event();
    // Browsers drop an event without data.
    assert!(
        event.contains("event: changed") && event.contains("data: "),
        "{event}"
    );
}

#[test]
fn a_named_run_is_opened_wherever_it_is() {
    let sandbox = with_run();
    let run = name(&sandbox, 0);
    let inside = Viewer::start(&mut sandbox.command("view latest --no-open"));
    let path = inside.path(&format!("/run/{run}"));
    assert!(inside.address().ends_with(&path), "{}", inside.address());
    assert_eq!(inside.get(&format!("/run/{run}")).status, 200);
    drop(inside);

    let copy = sandbox.work().join("copied");
    fs::create_dir(&copy).unwrap();
    for file in ["manifest.json", "report.json"] {
        fs::copy(sandbox.runs()[0].join(file), copy.join(file)).unwrap();
    }
    let elsewhere = Viewer::start(&mut sandbox.command("view ./copied --no-open"));
    assert!(elsewhere.get("/").body.contains("copied"));
    assert_eq!(elsewhere.get("/run/copied").status, 200);
    drop(elsewhere);

    let report = copy.join("report.json");
    fs::remove_file(copy.join("manifest.json")).unwrap();
    let refused = sandbox.refuse(&format!("view {} --no-open", report.display()));
    assert!(
        refused.contains("pass the run's folder instead"),
        "{refused}"
    );
    let unknown = sandbox.refuse("view nothing --no-open");
    assert!(unknown.contains("no run `nothing`"), "{unknown}");
}

#[test]
fn a_port_in_use_is_refused() {
    let sandbox = with_run();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let refused = sandbox.refuse(&format!("view --no-open --port {port}"));
    assert!(
        refused.contains(&format!("cannot listen on port {port}")),
        "{refused}"
    );
}

#[test]
fn a_page_holds_no_token_and_nothing_is_written_by_looking() {
    let sandbox = with_run();
    let before = json(&sandbox.runs()[0].join("report.json"));
    let files = || {
        let mut files: Vec<_> = fs::read_dir(&sandbox.runs()[0])
            .unwrap()
            .map(|it| it.unwrap().path())
            .collect();
        files.sort();
        files
    };
    let listed = files();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let run = format!("/run/{}", name(&sandbox, 0));
    for path in ["/", "/trend", &run] {
        let Answer { body, .. } = viewer.get(path);
        assert!(!body.contains(viewer.token()), "{path}");
    }
    assert_eq!(files(), listed);
    assert_eq!(json(&sandbox.runs()[0].join("report.json")), before);
}
