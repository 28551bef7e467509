// @ts-check
// What the pages share on which people work through a queue with the keyboard. Texts reach a page as text nodes only. `visible` and its
// like are defined in the file that the server puts in front of this one.
"use strict";

/** @template {HTMLElement} T @param {string} id @param {new () => T} type */
function part(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no #${id}`);
  return found;
}

/** @param {string} id */
function at(id) {
  return part(id, HTMLElement);
}

/** The file has what the page has not shown, so what was sent is not stored. */
class Unseen extends Error {
  /** @param {any} reply with a message and what the file has */
  constructor(reply) {
    super(reply.message);
    this.reply = reply;
  }
}

/** @param {unknown} error an error for people; empty to take it away */
function showError(error) {
  const text = error instanceof Error ? error.message : String(error);
  at("failure").replaceChildren(...prose(text));
  at("failure").hidden = text === "";
}

/**
 * @param {string} address
 * @param {Record<string, unknown>} [body]
 * @returns {Promise<any>} the reply; throws an error with the server's reason
 */
async function ask(address, body) {
  const headers = { "Content-Type": "application/json", "X-Evaluations-View": "1" };
  const options = body && { method: "POST", headers, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(address, options);
  } catch {
    throw new Error("The server does not answer. It may have ended; your verdicts so far are stored.");
  }
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  const reply = isJson ? await response.json() : { message: await response.text() };
  if (response.status === 409) throw new Unseen(reply);
  if (!response.ok) throw new Error(reply.message);
  return reply;
}

/** @param {string} address @param {Record<string, string | number>} parameters */
function withParameters(address, parameters) {
  const mark = address.includes("?") ? "&" : "?";
  const texts = Object.entries(parameters).map(([name, value]) => [name, String(value)]);
  return address + mark + new URLSearchParams(texts);
}

let isBusy = false;

/** A key that is pressed twice must not decide about what comes next. @param {() => Promise<void>} work */
async function oneAtATime(work) {
  if (isBusy) return;
  isBusy = true;
  at("work").setAttribute("aria-busy", "true");
  try {
    await work();
    showError("");
  } catch (error) {
    showError(error);
  } finally {
    isBusy = false;
    at("work").setAttribute("aria-busy", "false");
  }
}

/** Goes to what is shown on the page, or to the words that nothing is left. @param {string} finished empty if there is something */
function goToWork(finished) {
  at("work").hidden = finished !== "";
  at("finished").hidden = finished === "";
  at("finished").textContent = finished;
  if (finished !== "") {
    at("finished").tabIndex = -1;
    at("finished").focus();
    return;
  }
  at("subject").focus({ preventScroll: true });
  window.scrollTo(0, Math.max(0, at("work").offsetTop - 8));
}

/** @param {string} id @param {Part[]} parts */
function put(id, parts) {
  at(id).replaceChildren(...longText(parts));
}

/**
 * A text of any length, or the parts of a text with their marks. The rest of a long one comes step by step.
 * @param {Part[]} parts
 */
function longText(parts, length = SHOWN) {
  /** @type {Node[]} */
  const shown = openingOf(parts, length).map((it) => {
    const made = it.mark ? document.createElement(it.mark) : document.createDocumentFragment();
    made.append(...it.pieces.flatMap((piece, i) => (i === 0 ? [piece] : [document.createElement("wbr"), piece])));
    return made;
  });
  const rest = restInWords(parts, length);
  if (rest === "") return shown;
  const button = pressable(rest, () => button.parentElement?.replaceChildren(...longText(parts, length + SHOWN)));
  return [...shown, button];
}

/** A button below a text. @param {string} text @param {() => void} work */
function pressable(text, work) {
  const button = element("button", text, "more");
  button.setAttribute("type", "button");
  button.addEventListener("click", work);
  return button;
}

/** A text as a field shows it: the browser writes line breaks in one way. @param {string} text */
function asShown(text) {
  return text.replace(/\r\n?/g, "\n");
}

/** @template {string} V @param {V | undefined} said @param {(verdict: V) => Promise<void>} [decide] what a press of a button does */
function showVerdict(said, decide) {
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-verdict]"))) {
    const verdict = /** @type {V} */ (button.dataset.verdict);
    button.setAttribute("aria-pressed", String(verdict === said));
    if (decide) button.addEventListener("click", () => oneAtATime(() => decide(verdict)));
  }
  at("next").hidden = said === undefined;
}

/**
 * Single keys, unless somebody types or has turned them off. Escape leaves a field.
 * @param {Record<string, () => void>} actions
 * @param {() => void} enter what Enter does, except on what it presses, while there is a button `next`
 */
function listenToKeys(actions, enter) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
    const target = event.target;
    if (event.key === "Escape" && target instanceof HTMLTextAreaElement) {
      target.blur();
      at("subject").focus({ preventScroll: true });
      return;
    }
    const isTyping = target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== "checkbox");
    if (isTyping || at("settings").hidden || (at("work").hidden && event.key !== "u") || !part("keys", HTMLInputElement).checked) return;
    const isButton = target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement || (target instanceof HTMLElement && target.tagName === "SUMMARY");
    const mayGoOn = !at("next").hidden && !isButton;
    const action = event.key === "Enter" ? mayGoOn && enter : Object.hasOwn(actions, event.key) && actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
