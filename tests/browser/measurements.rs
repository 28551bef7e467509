//! How fast a page of 5,000 cases is: `make bench-browser` prints a table. Nothing here fails because a machine is slow.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::path::Path;

use evals_html::page::Texts;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::pages::Pages;
use crate::synthetic::Synthetic;

/// How often each time is taken.
const ROUNDS: usize = 5;

/// Starts observers before the scripts of the page, so that they see it load.
const OBSERVE: &str = "
    window.tasks = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((it) => [it.startTime, it.duration]))).observe({type: 'longtask', buffered: true});
    document.addEventListener('DOMContentLoaded', () => {
        const cases = document.getElementById('cases');
        new MutationObserver((_, observer) => {
            if (!document.querySelector('.rows tbody tr')) return;
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => { window.usable = performance.now() }));
        }).observe(cases, {childList: true, subtree: true});
    });";

/// Takes the time from an action until the frame with its result is drawn.
const TIMED: &str = "
    const done = arguments[0];
    const start = performance.now();
    ACTION;
    requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => done(performance.now() - start); channel.port2.postMessage(0) })";

#[test]
#[ignore = "measures: make bench-browser"]
fn a_page_of_5000_cases() {
    let pages = Pages::new();
    let page = pages.synthetic(Synthetic::full(), Texts::Kept);
    let size = std::fs::metadata(&page).unwrap().len();
    println!("| measure | median | worst | bar |\n|---|---|---|---|");
    println!(
        "| size of the file | {:.1} MB | | 8 MB |",
        f64::from(u32::try_from(size).unwrap()) / 1e6
    );
    let loads: Vec<Load> = (0..ROUNDS).map(|_| Load::measure(&page)).collect();
    print(&loads, "summary painted", "500 ms", |it| it.painted);
    print(&loads, "table usable", "1000 ms", |it| it.usable);
    print(&loads, "longest task while loading", "", |it| it.longest);
    print(&loads, "heap after load", "100 MB", |it| it.heap);
    println!("| elements | {:.0} | | 2000 |", loads[0].elements);
    let browser = opened(&page);
    keystrokes(&browser);
    browser.run::<()>("location.hash = 'x='", &[]);
    sorts(&browser);
    opens(&browser);
    scroll(&browser);
    print(
        &[heap(&browser)],
        "heap after all of this",
        "100 MB",
        |&it| it,
    );
    browser.end(&["file://"]);
}

/// What one opening of the page takes. Times are in milliseconds, the heap in megabytes.
struct Load {
    painted: f64,
    usable: f64,
    longest: f64,
    heap: f64,
    elements: f64,
}

impl Load {
    fn measure(page: &Path) -> Self {
        let browser = opened(page);
        let values: Vec<f64> = browser.run(
            "return [performance.getEntriesByName('first-contentful-paint')[0].startTime, usable, Math.max(0, ...tasks.map((it) => it[1])),
                document.querySelectorAll('*').length]",
            &[],
        );
        let load = Self {
            painted: values[0],
            usable: values[1],
            longest: values[2],
            heap: heap(&browser),
            elements: values[3],
        };
        browser.end(&["file://"]);
        load
    }
}

fn opened(page: &Path) -> Browser {
    let browser = Browser::start();
    browser.before_pages(OBSERVE);
    browser.open(page, "");
    browser.wait("window.usable");
    browser
}

/// Characters typed one after the other, before and after the texts of all cases are read.
fn keystrokes(browser: &Browser) {
    let type_in = |text: &str| {
        timed(
            browser,
            &format!(
                "const field = document.querySelector('input[type=search]'); field.value = '{text}'; field.dispatchEvent(new Event('input', {{bubbles: true}}))"
            ),
        )
    };
    let word = "unsed the con";
    let typed = |times: &mut Vec<f64>| {
        for end in 1..=word.len() {
            times.push(type_in(&word[..end]));
        }
        type_in("");
    };
    let mut first = Vec::new();
    browser.run::<()>("window.reading = performance.now()", &[]);
    typed(&mut first);
    browser.run::<()>("const field = document.querySelector('input[type=search]'); field.value = 'zz'; field.dispatchEvent(new Event('input', {bubbles: true}))", &[]);
    browser.wait("document.querySelector('.progress').innerText === ''");
    let longest: f64 = browser.run(
        "return Math.max(0, ...tasks.filter((it) => it[0] >= reading).map((it) => it[1]))",
        &[],
    );
    println!(
        "| longest task while all texts are read (tasks over 50 ms are counted) | {longest:.0} ms | | none over 50 ms |"
    );
    let mut later = Vec::new();
    for _ in 0..ROUNDS {
        typed(&mut later);
    }
    print_times(
        "keystroke to filtered, while texts are read",
        "50 ms (p95)",
        first,
    );
    print_times(
        "keystroke to filtered, all texts read",
        "50 ms (p95)",
        later,
    );
}

fn sorts(browser: &Browser) {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        for column in 0..6 {
            times.push(timed(
                browser,
                &format!("document.querySelectorAll('.rows thead button')[{column}].click()"),
            ));
        }
    }
    print_times("sort", "100 ms", times);
}

fn opens(browser: &Browser) {
    let mut times = Vec::new();
    for row in 0..4 * ROUNDS {
        let time = browser.run_async(
            "const [row, done] = arguments;
             const start = performance.now();
             const id = document.querySelectorAll('.rows tbody a')[row].textContent;
             document.querySelectorAll('.rows tbody a')[row].click();
             const look = () => document.querySelector('dialog .ranking') && document.querySelector('dialog h2').textContent === id
                 ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))) : setTimeout(look, 1);
             look()",
            &[json!(row)],
        );
        times.push(time.as_f64().unwrap());
        browser.press_button("Close");
        browser.wait("!document.querySelector('dialog')");
    }
    print_times("open a case", "100 ms", times);
}

/// Scrolls from the first row to the last, half a screen in each frame.
fn scroll(browser: &Browser) {
    let result = browser.run_async(
        "const done = arguments[0];
         const rows = document.querySelector('.rows');
         const start = performance.now();
         let [last, slowest, elements] = [start, 0, 0];
         const step = () => {
             const now = performance.now();
             slowest = Math.max(slowest, now - last);
             last = now;
             elements = Math.max(elements, document.querySelectorAll('*').length);
             if (rows.scrollTop + rows.clientHeight >= rows.scrollHeight - 1) {
                 return setTimeout(() => done([Math.max(0, ...tasks.filter((it) => it[0] >= start).map((it) => it[1])), slowest, elements]), 200);
             }
             rows.scrollTop += 350;
             requestAnimationFrame(step);
         };
         rows.scrollTop = 0;
         requestAnimationFrame(step)",
        &[],
    );
    println!(
        "| longest task while scrolling (tasks over 50 ms are counted) | {:.0} ms | | none over 50 ms |",
        number(&result, 0)
    );
    println!(
        "| longest frame while scrolling | {:.0} ms | | |",
        number(&result, 1)
    );
    println!("| most elements while scrolling | {} | | 2000 |", result[2]);
}

/// The heap of scripts after a collection, in megabytes.
fn heap(browser: &Browser) -> f64 {
    browser.devtools("HeapProfiler.collectGarbage", &json!({}));
    let usage = browser.devtools("Runtime.getHeapUsage", &json!({}));
    usage["usedSize"].as_f64().unwrap() / 1e6
}

fn timed(browser: &Browser, action: &str) -> f64 {
    let script = TIMED.replace("ACTION", action);
    browser.run_async(&script, &[]).as_f64().unwrap()
}

fn number(value: &Value, index: usize) -> f64 {
    value[index].as_f64().unwrap()
}

fn print<T>(values: &[T], name: &str, bar: &str, value: impl Fn(&T) -> f64) {
    let mut values: Vec<f64> = values.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    let unit = if name.starts_with("heap") { "MB" } else { "ms" };
    println!(
        "| {name} | {:.0} {unit} | {:.0} {unit} | {bar} |",
        values[values.len() / 2],
        values[values.len() - 1]
    );
}

fn print_times(name: &str, bar: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let p95 = times[(times.len() * 95).div_ceil(100) - 1];
    println!(
        "| {name} | {:.0} ms (p95 {p95:.0} ms, n = {}) | {:.0} ms | {bar} |",
        times[times.len() / 2],
        times.len(),
        times[times.len() - 1]
    );
}
