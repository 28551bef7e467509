//! A browser with one window, over W3C `WebDriver`.

use std::env;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, Method};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::chromedriver::Chromedriver;

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(30);

/// Milliseconds in which nothing else happens that no page may take, even on a machine that does much else.
const STALL: f64 = 1_000.0;

/// Keys that are no characters, as `WebDriver` writes them.
pub(crate) mod key {
    pub(crate) const TAB: &str = "\u{e004}";
    pub(crate) const ENTER: &str = "\u{e007}";
    pub(crate) const ESCAPE: &str = "\u{e00c}";
    pub(crate) const END: &str = "\u{e010}";
    pub(crate) const HOME: &str = "\u{e011}";
    pub(crate) const LEFT: &str = "\u{e012}";
    pub(crate) const RIGHT: &str = "\u{e014}";
    pub(crate) const DOWN: &str = "\u{e015}";
}

/// Chromium without a visible window.
pub(crate) struct Browser {
    runtime: Runtime,
    client: Client,
    session: String,
    // Ends after the session.
    _driver: Chromedriver,
}

impl Browser {
    /// A window of 1280 by 900 pixels on a light system.
    pub(crate) fn start() -> Self {
        let driver = Chromedriver::start();
        let mut browser = Self {
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            client: Client::builder().no_proxy().build().unwrap(),
            session: driver.address().to_owned(),
            _driver: driver,
        };
        let binary = env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
        ];
        let capabilities = json!({
            "goog:chromeOptions": {"binary": binary, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        });
        let made = browser.post(
            "/session",
            &json!({"capabilities": {"alwaysMatch": capabilities}}),
        );
        let id = made["sessionId"].as_str().expect("a session has an id");
        browser.session = format!("{}/session/{id}", browser.session);
        browser
    }

    /// A window that shows the page of a report, once its table of cases has rows.
    pub(crate) fn on(page: &Path, fragment: &str) -> Self {
        let browser = Self::start();
        browser.open(page, fragment);
        browser.wait("document.querySelector('.rows tbody tr')");
        browser
    }

    /// Opens a file; `fragment` is empty or begins with `#`.
    pub(crate) fn open(&self, file: &Path, fragment: &str) {
        self.visit(&format!("file://{}{fragment}", file.display()));
    }

    /// Opens an address.
    pub(crate) fn visit(&self, address: &str) {
        self.post("/url", &json!({ "url": address }));
    }

    /// Runs the body of a function in the page and returns what it returns.
    pub(crate) fn run<T: DeserializeOwned>(&self, script: &str, arguments: &[Value]) -> T {
        let value = self.post(
            "/execute/sync",
            &json!({"script": script, "args": arguments}),
        );
        serde_json::from_value(value).unwrap_or_else(|error| panic!("`{script}`: {error}"))
    }

    /// Like [`run`](Self::run), for a function whose last argument takes the result.
    pub(crate) fn run_async(&self, script: &str, arguments: &[Value]) -> Value {
        self.post(
            "/execute/async",
            &json!({"script": script, "args": arguments}),
        )
    }

    /// Waits until a page is loaded and an expression is true on it. Before a page is loaded, its scripts may not listen to keys yet.
    pub(crate) fn wait(&self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        let script = format!("return document.readyState === 'complete' && !!({condition})");
        while !self.run::<bool>(&script, &[]) {
            assert!(Instant::now() < deadline, "`{condition}` did not come true");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Fails if the page has taken longer than [`STALL`] for script and layout in one go.
    pub(crate) fn assert_no_stall(&self) {
        let tasks = self.run_async(
            "const done = arguments[0];
             const observer = new PerformanceObserver((list) => done(list.getEntries().map((it) => it.duration)));
             observer.observe({type: 'longtask', buffered: true});
             setTimeout(() => done([]), 200)",
            &[],
        );
        let tasks: Vec<f64> = serde_json::from_value(tasks).unwrap();
        let longest = tasks.into_iter().fold(0.0, f64::max);
        assert!(longest < STALL, "a task took {longest} ms");
    }

    /// The text that a reader sees in the first element that matches.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.run(
            "return document.querySelector(arguments[0]).innerText",
            &[selector.into()],
        )
    }

    /// The texts of all elements that match.
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        self.run(
            "return [...document.querySelectorAll(arguments[0])].map((it) => it.innerText)",
            &[selector.into()],
        )
    }

    /// Clicks the first element that matches, with the mouse.
    pub(crate) fn click(&self, selector: &str) {
        let found = self.post(
            "/element",
            &json!({"using": "css selector", "value": selector}),
        );
        let element = found.as_object().and_then(|it| it.values().next());
        let element = element
            .and_then(Value::as_str)
            .expect("an element has an id");
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Clicks the button whose text begins so.
    pub(crate) fn press_button(&self, text: &str) {
        let is_there: bool = self.run(
            "const found = [...document.querySelectorAll('button, summary')].find((it) => it.innerText.startsWith(arguments[0]));
             found?.click();
             return !!found",
            &[text.into()],
        );
        assert!(is_there, "no button `{text}`");
    }

    /// Presses keys one after the other: the characters of a text, or one of [`key`].
    pub(crate) fn keys(&self, keys: &str) {
        let presses: Vec<Value> = keys
            .chars()
            .flat_map(|it| {
                ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": it.to_string()}))
            })
            .collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": presses});
        self.post("/actions", &json!({ "actions": [keyboard] }));
    }

    /// The page as PDF on A4.
    pub(crate) fn print(&self) -> Vec<u8> {
        let paper = json!({"page": {"width": 21.0, "height": 29.7}});
        decoded(&self.post("/print", &paper))
    }

    /// What the window shows, as PNG.
    pub(crate) fn screenshot(&self) -> Vec<u8> {
        let picture = self.devtools("Page.captureScreenshot", &json!({"format": "png"}));
        decoded(&picture["data"])
    }

    /// Sets the size of the page in CSS pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Makes the system prefer `light` or `dark`.
    pub(crate) fn prefer(&self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.devtools(
            "Emulation.setEmulatedMedia",
            &json!({"features": [feature]}),
        );
    }

    /// Runs a script in pages that are opened from now on, before their own.
    pub(crate) fn before_pages(&self, script: &str) {
        self.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            &json!({"source": script}),
        );
    }

    /// Blocks the scripts of pages that are opened from now on.
    pub(crate) fn block_scripts(&self) {
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            &json!({"value": true}),
        );
    }

    /// A command of the `DevTools` protocol, for what `WebDriver` lacks.
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        )
    }

    /// Ends the browser. Fails if there was a message in the console (violations of a page's policy are messages), or a request for
    /// anything but the addresses that begin with one of these.
    pub(crate) fn end(self, allowed: &[&str]) {
        let messages = self.post("/se/log", &json!({"type": "browser"}));
        assert_eq!(messages, json!([]), "the console has messages");
        let requests = self.requests();
        let foreign = |it: &&String| !allowed.iter().any(|start| it.starts_with(start));
        let foreign: Vec<&String> = requests.iter().filter(foreign).collect();
        assert!(foreign.is_empty(), "the page requested {foreign:?}");
        assert!(!requests.is_empty(), "no page was opened");
    }

    /// The addresses that pages requested so far.
    fn requests(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "performance"}));
        let entries = log.as_array().expect("a log is a list").iter();
        let events = entries.filter_map(|entry| {
            let message = entry["message"].as_str()?;
            let event = serde_json::from_str::<Value>(message).ok()?["message"].take();
            (event["method"] == "Network.requestWillBeSent").then_some(event)
        });
        let addresses = events.filter_map(|event| {
            let address = event["params"]["request"]["url"].as_str()?;
            Some(address.to_owned())
        });
        addresses.collect()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.send(Method::POST, path, Some(body))
    }

    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let address = format!("{}{path}", self.session);
        let mut request = self.client.request(method, &address);
        if let Some(body) = body {
            request = request.json(body);
        }
        let mut reply: Value = self.runtime.block_on(async {
            let response = request.send().await.expect("chromedriver answers");
            response.json().await.expect("chromedriver answers in JSON")
        });
        let error = reply["value"]["error"].as_str();
        assert_eq!(error, None, "{address}: {}", reply["value"]["message"]);
        reply["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Without this, the browser would outlive the driver.
        let end = self.client.delete(&self.session).send();
        _ = self.runtime.block_on(end);
    }
}

fn decoded(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("an image is a text");
    STANDARD.decode(text).expect("an image is Base64")
}
