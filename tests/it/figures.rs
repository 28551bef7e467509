//! Figures of stored runs: `--figures`, and the figure regions of `runs table --update`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, json};

/// The files of a folder below the working folder.
fn files(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(sandbox.work().join(folder)).unwrap();
    let files = entries.map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(&path).unwrap())
    });
    files.collect()
}

fn svg(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(sandbox.work().join(path)).unwrap()
}

#[test]
fn a_report_has_figures_as_svg_and_png() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 30 --profile bm25 --skip-qa");
    let ended = sandbox.run("report latest --figures out/figures --out report.md");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("to `out/figures`: breakdown, measures, latency, scores"),
        "{}",
        ended.stderr
    );
    assert!(sandbox.work().join("report.md").exists());
    let drawn = files(&sandbox, "out/figures");
    let stems: Vec<&str> = drawn
        .keys()
        .filter_map(|it| it.strip_suffix(".svg"))
        .collect();
    for stem in stems {
        let png = &drawn[&format!("{stem}.png")];
        assert!(png.starts_with(b"\x89PNG"), "{stem}");
    }
    let measures = svg(&sandbox, "out/figures/measures.svg");
    assert!(measures.contains(r#"role="img""#), "{measures}");
    let report = json(&sandbox.runs()[0].join("report.json"));
    let mean = report["summary"]["scores"]["RR@5"]["value"]
        .as_f64()
        .unwrap();
    assert!(
        measures.contains(&format!("MRR@5 {mean:.4}, ")),
        "{measures}"
    );
    let excluded = report["summary"]["scores"]["RR@5"]["excluded"]["unanswerable"].as_u64();
    let caption = format!("Excluded: {} × unanswerable.", excluded.unwrap());
    assert!(measures.contains(&caption), "{measures}");
    assert!(
        !svg(&sandbox, "out/figures/breakdown.svg").contains("href"),
        "a file has no cases to lead to"
    );

    sandbox.succeed("report latest --figures again");
    assert_eq!(
        files(&sandbox, "again"),
        drawn,
        "equal reports, equal bytes"
    );
}

#[test]
fn no_latency_is_drawn_from_fewer_than_20_samples() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 19 --profile bm25 --skip-qa");
    sandbox.succeed("report latest --figures figures");
    let drawn = files(&sandbox, "figures");
    assert!(drawn.contains_key("measures.svg") && !drawn.contains_key("latency.svg"));
}

#[test]
fn the_stages_of_the_breakdown_add_up_to_the_cases() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --skip-retrieval");
    sandbox.succeed("report latest --figures figures");
    let breakdown = svg(&sandbox, "figures/breakdown.svg");
    let description = breakdown.split("-desc\">").nth(1).unwrap();
    let description = description.split('<').next().unwrap();
    let counts = description.split("; ").map(|stage| {
        let (_, count) = stage.rsplit_once(": ").unwrap();
        count.split(' ').next().unwrap().parse::<usize>().unwrap()
    });
    assert_eq!(counts.sum::<usize>(), 40, "{description}");
    let report = json(&sandbox.runs()[0].join("report.json"));
    let passed = report["summary"]["accuracy"]["equivalent"]["passed"]
        .as_u64()
        .unwrap();
    // The extractive answerer refuses no unanswerable question.
    assert!(
        description.contains(&format!("right: {passed} (")),
        "{description}"
    );
}

#[test]
fn the_changes_of_a_comparison_have_corrected_p_values() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --profile unranked --profile bm25 --skip-qa");
    let runs = sandbox.runs();
    let [before, after] = [0, 1].map(|it| runs[it].display().to_string());
    sandbox.succeed(&format!(
        "compare {before} {after} --figures figures --out change.json"
    ));
    let change = json(&sandbox.work().join("change.json"));
    let figure = svg(&sandbox, "figures/changes.svg");
    assert!(
        figure.contains("Holm-corrected for the 3 measures"),
        "{figure}"
    );
    let measures = change["measures"].as_array().unwrap();
    assert_eq!(measures.len(), 4);
    for measure in measures {
        let p = measure["adjusted_p_value"].as_f64().unwrap();
        let printed = if p < 0.0001 {
            "p &lt; 0.0001".to_owned()
        } else {
            format!("p = {p:.4}")
        };
        assert!(figure.contains(&printed), "{printed}: {figure}");
    }
}

#[test]
fn several_runs_are_drawn_side_by_side() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 30 --profile unranked --profile bm25 --profile hybrid");
    let ended = sandbox.run("table --figures figures");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let bars = svg(&sandbox, "figures/bars-retrieval-sample.svg");
    for profile in ["unranked", "bm25", "hybrid"] {
        assert!(bars.contains(&format!(">{profile}</text>")), "{bars}");
    }
    let trade_off = svg(&sandbox, "figures/trade-off-retrieval-sample.svg");
    assert!(
        trade_off.contains("Not drawn: unranked (does not search)."),
        "{trade_off}"
    );
    assert!(
        sandbox
            .work()
            .join("figures/comparison-qa-sample.png")
            .exists()
    );

    sandbox.succeed("table --dataset sample --figures retrieval --run latest");
    let alone = files(&sandbox, "retrieval");
    assert!(alone.contains_key("bars.svg"), "{:?}", alone.keys());
}

const PAGE: &str = "# Figures\r\n\r\n<!-- evaluations figure: bars retrieval sample -->\r\nstale\r\n<!-- evaluations end -->\r\n\
    \r\n<!-- evaluations figure: breakdown qa -->\r\n<!-- evaluations end -->\r\n";

#[test]
fn the_figures_of_a_page_are_written_and_checked() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 20 --profile bm25");
    let page = sandbox.write("docs/page.md", PAGE);
    let stale = sandbox.run("table --update docs/page.md --check");
    assert_eq!(stale.code, Some(1), "{}", stale.stderr);
    assert!(
        stale
            .stderr
            .contains("`docs/page.md`, line 3: the figure is out of date"),
        "{}",
        stale.stderr
    );
    assert!(
        !sandbox.work().join("docs/figures").exists(),
        "a check writes nothing"
    );

    sandbox.succeed("table --update docs/page.md");
    let written = fs::read_to_string(&page).unwrap();
    assert!(
        written.contains("](figures/bars-retrieval-sample.svg)\r\n\r\n*n = "),
        "{written}"
    );
    assert!(
        written.contains("![Where it broke: sample, bm25. not retrieved: "),
        "{written}"
    );
    assert!(!written.contains("stale"), "{written}");
    let drawn = files(&sandbox, "docs/figures");
    assert_eq!(
        drawn.keys().collect::<Vec<_>>(),
        ["bars-retrieval-sample.svg", "breakdown-qa.svg"]
    );
    let bars = String::from_utf8(drawn["bars-retrieval-sample.svg"].clone()).unwrap();
    assert!(
        !bars.contains("10,000 resamples"),
        "the page has the caption"
    );
    assert_eq!(
        sandbox.run("table --update docs/page.md --check").code,
        Some(0)
    );
    sandbox.succeed("table --update docs/page.md");
    assert_eq!(
        fs::read_to_string(&page).unwrap(),
        written,
        "writing again changes nothing"
    );

    let figure = sandbox.work().join("docs/figures/breakdown-qa.svg");
    fs::write(&figure, "<svg/>").unwrap();
    let changed = sandbox.run("table --update docs/page.md --check");
    assert_eq!(changed.code, Some(1));
    let line = 1 + written
        .lines()
        .position(|it| it.contains("breakdown qa"))
        .unwrap();
    let expected = format!("line {line}: the file `docs/figures/breakdown-qa.svg` is out of date");
    assert!(changed.stderr.contains(&expected), "{}", changed.stderr);
    fs::remove_file(&figure).unwrap();
    let missing = sandbox.run("table --update docs/page.md --check");
    assert!(missing.stderr.contains("is missing"), "{}", missing.stderr);
    sandbox.succeed("table --update docs/page.md");
    assert_eq!(files(&sandbox, "docs/figures"), drawn);
}

#[test]
fn a_measure_is_drawn_over_all_runs_of_a_profile() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 20 --profile bm25 --profile semantic --skip-qa");
    sandbox.succeed("sample --limit 20 --profile bm25 --skip-qa");
    sandbox.succeed("sample --limit 25 --profile bm25 --skip-qa --set processing.chunk_size=128");
    sandbox.succeed("table --figures figures");
    let drawn = files(&sandbox, "figures");
    assert!(
        drawn.contains_key("trend.svg") && drawn.contains_key("trend.png"),
        "{:?}",
        drawn.keys()
    );
    let trend = svg(&sandbox, "figures/trend.svg");
    assert!(
        trend.contains("3 finished runs, oldest on the left. n = 16 to 20."),
        "{trend}"
    );
    // In words and at its mark.
    for change in [".size: 256 -&gt; 128", "other questions"] {
        assert_eq!(trend.matches(change).count(), 2, "{change}: {trend}");
    }

    sandbox.succeed("sample --limit 20 --profile bm25 --skip-qa --k 3");
    sandbox.succeed("table --figures figures");
    let trend = svg(&sandbox, "figures/trend.svg");
    assert!(trend.contains("MRR@5: sample"), "{trend}");
    assert!(
        trend.contains("not measured; the run measured MRR@3"),
        "{trend}"
    );

    sandbox.write(
        "page.md",
        "<!-- evaluations figure: trend retrieval profile=bm25 -->\n<!-- evaluations end -->\n",
    );
    sandbox.succeed("table --update page.md");
    let page = fs::read_to_string(sandbox.work().join("page.md")).unwrap();
    assert!(
        page.contains("](figures/trend-retrieval-profile-bm25.svg)"),
        "{page}"
    );
    assert_eq!(sandbox.run("table --update page.md --check").code, Some(0));
    let refused = |words: &str| {
        let marker =
            format!("<!-- evaluations figure: trend {words} -->\n<!-- evaluations end -->\n");
        sandbox.write("page.md", &marker);
        sandbox.refuse("table --update page.md")
    };
    assert!(refused("retrieval").contains("`profile=NAME` to select one: bm25, semantic"));
    assert!(refused("retrieval profile=semantic").contains("needs two finished runs"));

    sandbox.succeed("sample --limit 20 --profile semantic --skip-qa");
    sandbox.succeed("table --figures several");
    let drawn = files(&sandbox, "several");
    assert!(drawn.contains_key("trend-bm25.svg") && drawn.contains_key("trend-semantic.svg"));
}

#[test]
fn a_figure_that_cannot_be_drawn_is_an_error_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 5 --profile bm25 --profile semantic");
    let refused = |marker: &str| {
        let page = format!("\n<!-- evaluations figure: {marker} -->\n<!-- evaluations end -->\n");
        let path = sandbox.write("page.md", &page);
        let message = sandbox.refuse("table --update page.md");
        assert_eq!(fs::read_to_string(path).unwrap(), page);
        assert!(!Path::new(&sandbox.work().join("figures")).exists());
        assert!(message.contains("line 2"), "{message}");
        message
    };
    let several = refused("measures retrieval");
    assert!(
        several.contains(
            "shows one run, and 2 runs are selected; add `profile=NAME`, `model=NAME` or `run=NAME`"
        ) && several.contains("bm25; semantic"),
        "{several}"
    );
    assert!(refused("bars sample").contains("name one of them, as in `bars retrieval sample`"));
    assert!(refused("bar retrieval").contains("there is no figure `bar`; figures are measures"));
    assert!(refused("latency retrieval profile=bm25").contains("nothing to draw as `latency`"));
    assert!(refused("bars retrieval profile=hybrid").contains("with profile hybrid"));
}

#[test]
fn a_figure_of_one_run_shows_the_newest_of_other_settings() {
    let sandbox = Sandbox::new();
    let command = "sample --limit 5 --skip-retrieval --set search.context_radius";
    sandbox.succeed(&format!("{command}=0"));
    sandbox.succeed(&format!("{command}=1"));
    let runs = sandbox.runs();
    let names = runs
        .iter()
        .map(|run| run.file_name().unwrap().to_str().unwrap());
    let [older, newest] = names.collect::<Vec<_>>()[..] else {
        panic!("two runs: {runs:?}")
    };
    let updated = |words: &str| {
        let marker = format!(
            "<!-- evaluations figure: breakdown qa sample{words} -->\n<!-- evaluations end -->\n"
        );
        sandbox.write("page.md", &marker);
        let updated = sandbox.run("table --update page.md");
        assert_eq!(updated.code, Some(0), "{}", updated.stderr);
        updated.stderr
    };
    let note = updated("");
    let chosen = format!("the figure `breakdown` shows `{newest}` (");
    assert!(
        note.contains("`page.md`, line 1: ") && note.contains(&chosen),
        "{note}"
    );
    assert!(
        note.contains(&format!("add `run=NAME` to select another: `{older}` (")),
        "{note}"
    );
    assert!(note.contains("context_radius=0"), "{note}");
    assert!(!updated(&format!(" run={older}")).contains("add `run=NAME`"));
    let file = format!(
        "figures/breakdown-qa-sample-run-{}.svg",
        older.to_lowercase().replace('_', "-")
    );
    assert!(sandbox.work().join(&file).exists(), "{file}");
}

#[test]
fn every_region_that_fails_is_reported_and_none_is_written() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 5 --profile bm25 --skip-qa");
    let page = "<!-- evaluations figure: bars retrieval -->\n<!-- evaluations end -->\n\
        <!-- evaluations figure: bar retrieval -->\n<!-- evaluations end -->\n\
        <!-- evaluations table: qa -->\n<!-- evaluations end -->\n";
    let path = sandbox.write("page.md", page);
    let message = sandbox.refuse("table --update page.md");
    for part in [
        "2 of 3 regions failed, and nothing was written",
        "`page.md`, line 3: there is no figure `bar`",
        "`page.md`, line 5: no finished run of question answering",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page);
    assert!(!sandbox.work().join("figures").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_before_any_work() {
    let sandbox = Sandbox::new();
    sandbox.write("taken", "a file");
    for command in ["report latest", "compare a b", "table"] {
        let message = sandbox.refuse(&format!("{command} --figures taken"));
        assert!(
            message.contains("cannot create the folder `taken` of `--figures`"),
            "{command}: {message}"
        );
    }
    let message = sandbox.refuse("report latest");
    assert!(
        message.contains("--out") && message.contains("--figures"),
        "{message}"
    );
}

#[test]
fn a_run_of_several_profiles_draws_their_comparison() {
    let sandbox = Sandbox::new();
    let ended = sandbox
        .run("sample --limit 30 --skip-qa --profile bm25 --profile hybrid --profile unranked --figures drawn");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        files(&sandbox, "drawn").contains_key("standings.svg"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        ended.stdout.matches("MRR@5").count(),
        sandbox
            .run("sample --limit 30 --skip-qa --profile bm25 --profile hybrid --profile unranked")
            .stdout
            .matches("MRR@5")
            .count(),
        "figures print no further table"
    );
    sandbox.succeed("sample --limit 30 --skip-qa --profile bm25 --figures alone");
    assert!(files(&sandbox, "alone").contains_key("measures.svg"));
}
