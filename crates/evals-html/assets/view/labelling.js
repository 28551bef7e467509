// @ts-check
// Labels answers one by one. No reply contains what the judge said before a label is stored. `difference`, `ask` and their like are
// defined in the files that the server puts in front of this one.

/**
 * @typedef {"pass" | "fail" | "cannot-say"} Verdict
 * @typedef {{ verdict: Verdict, note: string, version: string }} Label A stored label. The version tells it from a later one.
 * @typedef {{ case: string, repeat: number, label: Label | null }} Entry An answer of the queue with the labeller's own label.
 * @typedef {{ criterion: string, said: [string, string][], question: string, reference: string | null, answer: string, digest: string, passages: { document: string, text: string }[] }} Answer
 * @typedef {{ name: string, meaning: string, value: string, interval: string, n: string }} Statistic
 * @typedef {{ confusion: [string, number, number][], statistics: Statistic[], caveats: string[] }} Agreement
 * @typedef {{ label: Label, judged: { verdict: string, reason: string } | null }} Stored What the judge said is only there if it was asked for.
 */

(() => {
  "use strict";
  const setup = document.getElementById("setup");
  if (!(setup instanceof HTMLFormElement)) return;
  const { queue: queueAddress = "", answer: answerAddress = "", agreement: agreementAddress = "", labels: labelsAddress = "" } = setup.dataset;

  /** @type {Entry[]} */
  let queue = [];
  let place = 0;
  /** @type {Answer | null} */
  let answer = null;
  /** What was asked for when the queue was drawn: a later change of the form does not count until the next start. */
  let drawn = { labeller: "", method: "random", size: 0, seed: 0 };
  /** The label in the file and the one that was not stored, between which the labeller chooses. @type {{ entry: Entry, verdict: Verdict, label: Label } | null} */
  let choice = null;
  /** Notes on answers without a label, which the server does not have yet. @type {Map<string, string>} */
  const drafts = new Map();

  const note = part("note", HTMLTextAreaElement);

  async function start() {
    const form = new FormData(/** @type {HTMLFormElement} */ (setup));
    /** @param {string} name */
    const value = (name) => String(form.get(name) ?? "").trim();
    const wanted = { labeller: value("labeller"), method: value("method"), size: Number(value("size")), seed: Number(value("seed")) };
    if (wanted.labeller === "") throw new Error("Say who labels: fill in your name.");
    await keepNote();
    const reply = await ask(withParameters(queueAddress, wanted));
    drawn = wanted;
    queue = reply.answers;
    // What is shown belongs to the queue before.
    answer = null;
    at("work").hidden = true;
    foldAgreement();
    at("settings").hidden = false;
    await show(firstUnlabelled(0));
  }

  /** @param {number} from @returns {number} the end of the queue if all are labelled */
  function firstUnlabelled(from) {
    const found = queue.findIndex((entry, index) => index >= from && entry.label === null);
    return found < 0 ? queue.length : found;
  }

  function showPlace() {
    const labelled = queue.filter((entry) => entry.label !== null).length;
    const bar = part("bar", HTMLProgressElement);
    [bar.max, bar.value] = [Math.max(queue.length, 1), labelled];
    const entry = queue[place];
    if (!entry) return;
    const repetition = entry.repeat > 1 ? `, repetition ${entry.repeat}` : "";
    at("place").textContent = `${place + 1} of ${queue.length}, ${labelled} labelled: ${oneLine(entry.case)}${repetition}`;
  }

  /** @param {Entry} entry */
  function draftKey(entry) {
    return JSON.stringify([drawn.labeller, entry.case, entry.repeat]);
  }

  /** Whether the note of the answer on the page is not stored. */
  function hasNewNote() {
    const entry = answer && queue[place];
    return Boolean(entry) && note.value !== asShown(entry?.label?.note ?? "");
  }

  /** Keeps the note before another answer takes its place: with the label that the answer has, or until it gets one. */
  async function keepNote() {
    const entry = queue[place];
    if (!entry || !answer) return;
    if (!hasNewNote()) drafts.delete(draftKey(entry));
    else if (entry.label === null) drafts.set(draftKey(entry), note.value);
    else await store(entry, entry.label.verdict, false);
  }

  /**
   * Goes to a place of the queue. If its answer cannot be loaded, the page stays where it is.
   * @param {number} wanted the end of the queue says that all are labelled
   */
  async function show(wanted) {
    const entry = queue[wanted];
    const loaded = entry ? await ask(withParameters(answerAddress, { case: entry.case, repeat: entry.repeat })) : null;
    place = wanted;
    answer = loaded;
    if (!entry) {
      goToWork(
        queue.length === 0
          ? "There is no answer to label."
          : `All ${queue.length} answers are labelled. Start again with a larger number to go on; the labels so far count.`,
      );
      return;
    }
    showPlace();
    fill(/** @type {Answer} */ (answer));
    note.value = drafts.get(draftKey(entry)) ?? entry.label?.note ?? "";
    showVerdict(entry.label?.verdict);
    part("back", HTMLButtonElement).disabled = place === 0;
    at("revealed").hidden = true;
    foldChoice();
    goToWork("");
  }

  /** @param {Answer} shown */
  function fill(shown) {
    put("criterion", [{ text: shown.criterion }]);
    put("question", [{ text: shown.question }]);
    at("reference-part").hidden = shown.reference === null;
    const compared = shown.reference === null ? null : difference(shown.reference, shown.answer);
    put("reference", compared?.before ?? []);
    put("answer", compared?.after ?? [{ text: shown.answer }]);
    at("difference").textContent = compared?.note ?? "";
    fillList("said", "before the question", "message", shown.said);
    const passages = shown.passages.map((passage) => /** @type {[string, string]} */ ([passage.document, passage.text]));
    fillList("passages", "that the answer was written from", "passage", passages);
  }

  /**
   * Texts below their names, or nothing.
   * @param {string} id @param {string} what @param {string} word what one of them is called @param {[string, string][]} texts
   */
  function fillList(id, what, word, texts) {
    const list = part(id, HTMLDetailsElement);
    list.hidden = texts.length === 0;
    const summary = list.querySelector("summary");
    if (summary) summary.textContent = `${texts.length} ${word}${texts.length === 1 ? "" : "s"} ${what}`;
    const listed = texts.map(([name, text]) => {
      const made = document.createElement("li");
      const body = element("div", "", "text");
      body.dir = "auto";
      body.append(...longText([{ text }]));
      made.append(element("span", oneLine(name), "name"), body);
      return made;
    });
    list.querySelector("ol")?.replaceChildren(...listed);
  }

  /** @param {Entry} entry @param {Verdict} verdict @param {boolean} reveal @returns {Promise<Stored>} */
  async function store(entry, verdict, reveal) {
    const about = { case: entry.case, repeat: entry.repeat, digest: answer?.digest, seen: entry.label?.version };
    /** @type {Stored} */
    let stored;
    try {
      stored = await ask(labelsAddress, { ...drawn, ...about, verdict, note: note.value, reveal });
    } catch (error) {
      if (error instanceof Unseen) offerChoice(entry, verdict, error.reply.label);
      throw error;
    }
    entry.label = stored.label;
    note.value = stored.label.note;
    drafts.delete(draftKey(entry));
    foldChoice();
    foldAgreement();
    return stored;
  }

  /** @param {Verdict} verdict */
  async function label(verdict) {
    const entry = queue[place];
    if (!entry || !answer) return;
    const box = document.getElementById("reveal");
    const stored = await store(entry, verdict, box instanceof HTMLInputElement && box.checked);
    showPlace();
    showVerdict(entry.label?.verdict);
    if (stored.judged) {
      at("judged").textContent = stored.judged.verdict;
      put("reason", [{ text: stored.judged.reason }]);
      at("revealed").hidden = false;
      at("next").focus();
    } else {
      await next();
    }
  }

  /**
   * Shows the label in the file, which the page has not shown before, and lets the labeller choose.
   * @param {Entry} entry @param {Verdict} verdict the verdict that was not stored @param {Label} label
   */
  function offerChoice(entry, verdict, label) {
    at("stored-verdict").textContent = words(label.verdict);
    at("stored-note").replaceChildren(...longText([{ text: label.note }]));
    at("stored-note").hidden = label.note === "";
    part("keep", HTMLButtonElement).textContent = `Keep “${words(label.verdict)}”`;
    part("replace", HTMLButtonElement).textContent = `Store my “${words(verdict)}” in its place`;
    choice = { entry, verdict, label };
    at("choice").hidden = false;
    at("keep").focus();
  }

  function foldChoice() {
    choice = null;
    at("choice").hidden = true;
  }

  /** @param {boolean} keeps whether the label in the file stays */
  async function choose(keeps) {
    if (!choice) return;
    const { entry, verdict, label: inFile } = choice;
    entry.label = inFile;
    if (!keeps) return label(verdict);
    drafts.delete(draftKey(entry));
    await show(place);
  }

  /** @param {Verdict} verdict */
  function words(verdict) {
    return verdict === "cannot-say" ? "cannot say" : verdict;
  }

  async function next() {
    await keepNote();
    const later = firstUnlabelled(place + 1);
    await show(later < queue.length ? later : firstUnlabelled(0));
  }

  async function back() {
    if (place === 0) return;
    await keepNote();
    await show(place - 1);
  }

  /** Takes the agreement away: one that follows each label shows what the judge said about it. */
  function foldAgreement() {
    const details = document.getElementById("agreement");
    if (details instanceof HTMLDetailsElement) details.open = false;
  }

  /** @param {HTMLDetailsElement} details */
  async function openAgreement(details) {
    if (!details.open) return;
    showAgreement(null);
    showAgreement(await ask(agreementAddress, { labeller: drawn.labeller }));
  }

  /** @param {Agreement | null} agreement */
  function showAgreement(agreement) {
    /** @param {string} id @param {Node[]} rows */
    const body = (id, rows) => part(id, HTMLTableElement).tBodies[0]?.replaceChildren(...rows);
    /** @param {[string, string][]} cells texts with their classes @param {string} title */
    const row = (title, cells) => {
      const made = document.createElement("tr");
      const head = element("th", title);
      head.setAttribute("scope", "row");
      made.append(head, ...cells.map(([text, className]) => element("td", text, className)));
      return made;
    };
    body("confusion", (agreement?.confusion ?? []).map(([title, passes, fails]) => row(title, [[String(passes), "number"], [String(fails), "number"]])));
    body("statistics", (agreement?.statistics ?? []).map((it) => row(it.name, [[it.value, "number"], [it.interval, ""], [it.n, "number"], [it.meaning, ""]])));
    at("caveats").replaceChildren(...(agreement?.caveats ?? []).map((text) => element("li", text)));
  }

  setup.addEventListener("submit", (event) => {
    event.preventDefault();
    void oneAtATime(start);
  });
  showVerdict(undefined, label);
  at("back").addEventListener("click", () => oneAtATime(back));
  at("next").addEventListener("click", () => oneAtATime(next));
  at("keep").addEventListener("click", () => oneAtATime(() => choose(true)));
  at("replace").addEventListener("click", () => oneAtATime(() => choose(false)));
  listenToKeys(
    {
      1: () => oneAtATime(() => label("pass")),
      2: () => oneAtATime(() => label("fail")),
      0: () => oneAtATime(() => label("cannot-say")),
      u: () => oneAtATime(back),
      n: () => note.focus(),
      v: () => document.getElementById("reveal")?.click(),
    },
    () => oneAtATime(next),
  );
  const agreement = document.getElementById("agreement");
  if (agreement instanceof HTMLDetailsElement) agreement.addEventListener("toggle", () => openAgreement(agreement).catch(showError));
  addEventListener("beforeunload", (event) => {
    if (hasNewNote() || drafts.size > 0) event.preventDefault();
  });
})();
