// @ts-check
// Reviews the questions of a test set, or grades the passages of a pool, one by one. `ask` and its like are defined in the files that the server puts in front of this one.

/**
 * @typedef {{ id: string, verdict: string, defect?: string, question?: string, answer?: string, author: string }} Review
 * @typedef {{ id: string, review: Review | null }} Queued A question or a passage of the queue with its last review, whoever wrote it.
 * @typedef {{ text: string, is_evidence: boolean }} ShownPart
 * @typedef {{ document: string, parts: ShownPart[], whole: ShownPart[] | null, lost: string[] }} ShownDocument
 * @typedef {{ id: string, question: string, answer: string, kind: string, asker?: string }} Item
 */

(() => {
  "use strict";
  const setup = document.getElementById("setup");
  if (!(setup instanceof HTMLFormElement)) return;

  const { done = "", finished = "", empty = "" } = setup.dataset;

  /** @type {Queued[]} */
  let queue = [];
  let place = 0;
  /** @type {Item | null} */
  let question = null;
  /** Who reviews, and the seed of the sample: a later change of the form does not count until the next start. */
  let drawn = { author: "", seed: /** @type {number | null} */ (null) };
  const fields = ["new-question", "new-answer", "note"].map((id) => part(id, HTMLTextAreaElement));

  /** What the fields held before somebody typed. @type {string[]} */
  let filled = [];

  const typed = () => fields.map((field) => field.value);

  /** What the fields show of the last review: a question and an answer that nobody edited are those of the set. */
  function fillFields() {
    const review = queue[place]?.review;
    filled = [review?.question ?? question?.question, review?.answer ?? question?.answer, review?.defect].map((text) => asShown(text ?? ""));
    fields.forEach((field, i) => { field.value = filled[i] ?? ""; });
  }

  /** Whether one of the first fields holds what is not stored. */
  const isTyped = (count = fields.length) => question !== null && typed().slice(0, count).some((text, i) => text !== filled[i]);

  async function start() {
    refuseToLeave();
    // Fields of the form that are disabled are no entries.
    const { author = "", ...sample } = Object.fromEntries(/** @type {Iterable<[string, string]>} */ (new FormData(/** @type {HTMLFormElement} */ (setup))));
    queue = await ask(withParameters("review/queue", sample));
    drawn = { author, seed: sample.seed === undefined ? null : Number(sample.seed) };
    // What is shown belongs to the queue before.
    question = null;
    at("work").hidden = true;
    at("settings").hidden = false;
    await next();
  }

  function refuseToLeave() {
    if (isTyped()) throw new Error("What you typed is not stored. Give a verdict to store it, or take it back.");
  }

  /** @param {number} from @returns {number} the end of the queue if all are reviewed */
  function firstOpen(from) {
    const found = queue.findIndex((entry, index) => index >= from && entry.review === null);
    return found < 0 ? queue.length : found;
  }

  async function next() {
    const later = question ? firstOpen(place + 1) : queue.length;
    await show(later < queue.length ? later : firstOpen(0));
  }

  async function back() {
    if (place > 0) await show(place - 1);
  }

  /** Goes to a place of the queue. If its question cannot be loaded, the page stays where it is. @param {number} wanted */
  async function show(wanted) {
    const entry = queue[wanted];
    refuseToLeave();
    const loaded = entry ? await ask(withParameters("review/question", { id: entry.id })) : null;
    place = wanted;
    question = loaded?.item ?? null;
    if (!entry) return goToWork(queue.length === 0 ? empty : `All ${queue.length} ${finished}`);
    fill(loaded.item, loaded.documents);
    at("answer-part").hidden = !loaded.is_answerable;
    showReview();
    fillFields();
    at("edit").hidden = entry.review?.verdict !== "edit";
    part("back", HTMLButtonElement).disabled = place === 0;
    goToWork("");
  }

  function showReview() {
    const reviewed = queue.filter((entry) => entry.review !== null).length;
    const bar = part("bar", HTMLProgressElement);
    [bar.max, bar.value] = [queue.length, reviewed];
    const review = queue[place]?.review ?? null;
    at("place").textContent = `${place + 1} of ${queue.length}, ${reviewed} ${done.toLowerCase()}: ${oneLine(question?.id ?? "")}`;
    showVerdict(review?.verdict);
    at("said").hidden = review === null;
    at("said").textContent = `${done} by ${oneLine(review?.author ?? "")}`;
  }

  /** @param {Item} shown @param {ShownDocument[]} documents */
  function fill(shown, documents) {
    at("kind").textContent = oneLine(shown.kind.replaceAll("_", " ") + (shown.asker ? `, asked by: ${shown.asker}` : ""));
    put("question", [{ text: shown.question }]);
    put("answer", [{ text: shown.answer }]);
    at("evidence").replaceChildren(...documents.flatMap(beside));
    if (documents.length === 0) at("evidence").append(element("p", "The question names no document.", "muted"));
  }

  /** @param {ShownDocument} shown */
  function beside(shown) {
    const text = element("div", "", "text");
    text.dir = "auto";
    /** @param {ShownPart[]} parts @param {number} [length] */
    const write = (parts, length) => text.replaceChildren(...longText(parts.map((it) => (it.is_evidence ? { text: it.text, mark: "mark" } : { text: it.text })), length));
    write(shown.parts);
    const whole = shown.whole;
    const more = whole && pressable("Show the whole document", () => {
      write(whole, Infinity);
      text.tabIndex = -1;
      text.focus();
      more?.remove();
    });
    const missing = "The documents do not have this one any more.";
    const lost = shown.lost.map((quote) => `The document does not have this quote any more: “${oneLine(quote)}”`);
    const notices = shown.parts.length === 0 ? [missing] : lost;
    return [element("h3", oneLine(shown.document), "name"), ...notices.map((notice) => element("p", notice, "notice")), text, ...(more ? [more] : [])];
  }

  /** @param {string} verdict */
  async function decide(verdict) {
    if (verdict !== "edit") return store(verdict);
    at("edit").hidden = false;
    fields[0]?.focus();
  }

  /** @param {string} verdict */
  async function store(verdict) {
    const entry = queue[place];
    if (!entry || !question) return;
    if (verdict !== "edit" && isTyped(2)) throw new Error("The question or the answer is changed below. Store the edit, or take the change back.");
    const [asked, answered, defect] = typed();
    // A text that nobody changed is not an edit, however the field writes its line breaks.
    const edited = verdict === "edit" && {
      question: asked === asShown(question.question) ? "" : asked,
      answer: answered === asShown(question.answer) ? "" : answered,
    };
    const review = { ...drawn, id: entry.id, verdict, defect, time: "", ...edited };
    try {
      entry.review = (await ask("review/reviews", { review, seen: entry.review })).review;
    } catch (error) {
      if (error instanceof Unseen) {
        entry.review = error.reply.review;
        if (!isTyped()) fillFields();
        showReview();
      }
      throw error;
    }
    fillFields();
    showReview();
    await next();
  }

  const limit = () => {
    const method = document.getElementById("method");
    const isSample = !(method instanceof HTMLSelectElement) || method.value === "sample";
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (setup.querySelectorAll("[type=number]"))) input.disabled = !isSample;
  };
  limit();
  setup.addEventListener("change", limit);
  setup.addEventListener("submit", (event) => {
    event.preventDefault();
    void oneAtATime(start);
  });
  showVerdict(undefined, decide);
  at("back").addEventListener("click", () => oneAtATime(back));
  for (const id of ["next", "skip"]) document.getElementById(id)?.addEventListener("click", () => oneAtATime(next));
  at("store").addEventListener("click", () => oneAtATime(() => store("edit")));
  at("edit").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
    event.preventDefault();
    void oneAtATime(() => store("edit"));
  });
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-verdict], #skip"));
  const pressed = Object.fromEntries([...buttons].map((button) => [button.getAttribute("aria-keyshortcuts") ?? "", () => button.click()]));
  listenToKeys(
    {
      ...pressed,
      u: () => oneAtATime(back),
      n: () => fields[2]?.focus(),
    },
    () => oneAtATime(next),
  );
  addEventListener("beforeunload", (event) => {
    if (isTyped()) event.preventDefault();
  });
})();
