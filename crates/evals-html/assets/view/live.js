// @ts-check
// A running run: one stream of events while the page is visible. Texts reach the page as text nodes only.
"use strict";

/**
 * @typedef {{ name: string, value: string, interval: string, n: number, drawn: [number, number, number] | null }} Measure
 * @typedef {{ state: string, notice: string | null, cases: [number, number] | null, done: string, facts: [string, string][], measures: Measure[] }} Progress
 */

(() => {
  const live = document.getElementById("live");
  if (!live) return;

  /** @param {string} id @param {string} text */
  function write(id, text) {
    const element = document.getElementById(id);
    // A screen reader announces a state again whenever it is written.
    if (element && element.textContent !== text) element.textContent = text;
  }

  /** @param {[number, number, number]} drawn value, low and high, from 0 to 1 */
  function interval(drawn) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("class", "interval");
    svg.setAttribute("viewBox", "0 0 160 16");
    svg.setAttribute("aria-hidden", "true");
    const [value, low, high] = drawn.map((share) => String(4 + 152 * share));
    const parts = /** @type {[string, Record<string, string>][]} */ ([
      ["line", { class: "axis", x1: "4", x2: "156", y1: "14", y2: "14" }],
      ["line", { x1: low, x2: high, y1: "7", y2: "7" }],
      ["circle", { cx: value, cy: "7", r: "4" }],
    ]);
    for (const [name, attributes] of parts) {
      const part = document.createElementNS(space, name);
      for (const [key, text] of Object.entries(attributes)) part.setAttribute(key, text);
      svg.append(part);
    }
    return svg;
  }

  /** @param {Measure} measure */
  function row(measure) {
    const made = document.createElement("tr");
    const name = element("th", measure.name);
    name.setAttribute("scope", "row");
    const drawing = document.createElement("td");
    if (measure.drawn) drawing.append(interval(measure.drawn));
    made.append(
      name,
      element("td", measure.value, "number"),
      element("td", measure.interval, "number"),
      element("td", String(measure.n), "number"),
      drawing,
    );
    return made;
  }

  /** @param {Progress} progress */
  function show(progress) {
    write("state", progress.state);
    write("done", progress.done);
    const notice = document.getElementById("notice");
    if (notice) {
      notice.replaceChildren(...prose(progress.notice ?? ""));
      notice.hidden = progress.notice === null;
    }
    const bar = document.getElementById("bar");
    if (bar instanceof HTMLProgressElement) {
      bar.hidden = progress.cases === null;
      if (progress.cases) [bar.value, bar.max] = progress.cases;
    }
    const facts = progress.facts.map(([name, value]) => {
      const fact = document.createElement("div");
      fact.append(element("dt", name), element("dd", value));
      return fact;
    });
    document.getElementById("facts")?.replaceChildren(...facts);
    const table = document.getElementById("measures");
    if (table instanceof HTMLTableElement) {
      table.hidden = progress.measures.length === 0;
      const caveat = document.getElementById("caveat");
      if (caveat) caveat.hidden = table.hidden;
      table.tBodies[0]?.replaceChildren(...progress.measures.map(row));
    }
  }

  followWhileVisible(live.dataset.stream ?? "", {
    open: () => write("connection", ""),
    progress: (event) => show(JSON.parse(event.data)),
    ended: (_, stream) => {
      stream.close();
      location.replace(live.dataset.link ?? "");
    },
    error: () => write("connection", "(no connection to the server; it may have ended)"),
  });
})();
