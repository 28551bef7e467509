// Foreign text: only as text nodes, with control and bidirectional characters made visible.

/** Control characters but tab and line feed, separators of lines and paragraphs, and bidirectional marks, embeddings, overrides and isolates. */
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Characters of a text that are shown at first, and that each press of the button adds. More in one go would stall the page. */
const SHOWN = 20_000;

/** Words in pieces: the time to lay out one grows with the square of its length. */
const LONG_WORD = /\S{129,}/gu;
const PIECE = /\S{1,32}\p{M}*/gu;

/** Characters of a text that a cell of a table shows. */
const CELL = 300;

/** The text with visible escapes in place of these characters, as the console writes them. @param {string} text */
function visible(text) {
	return text.replace(HIDDEN, (it) => (it === "\r" ? "\\r" : `\\u{${it.charCodeAt(0).toString(16)}}`));
}

/** The opening of a text in one line. @param {string} text */
function oneLine(text) {
	const opening = text.slice(0, CELL).replace(/[^\S\u2028\u2029]+/g, " ").trim();
	return visible(opening) + (text.length > CELL ? "…" : "");
}

/** The opening of a text, without half a character at its end. @param {string} text @param {number} length */
function opening(text, length) {
	const isHalf = length < text.length && /[\ud800-\udbff]/.test(text.charAt(length - 1));
	return text.slice(0, isHalf ? length - 1 : length);
}

/** @param {number} count */
function grouped(count) {
	return count.toLocaleString("en");
}

/** A text, cut where a `<wbr>` belongs. @param {string} text */
function pieces(text) {
	return text.replace(LONG_WORD, (word) => word.replace(PIECE, "$&\0").slice(0, -1)).split("\0");
}

/**
 * The first characters of the parts of a text, made visible, in pieces.
 * @param {Part[]} parts
 * @param {number} length
 */
function openingOf(parts, length) {
	const shown = [];
	for (const { text, mark } of parts) {
		if (length <= 0) break;
		shown.push({ mark, pieces: pieces(visible(opening(text, length))) });
		length -= text.length;
	}
	return shown;
}

/** The words of a button for the rest, if there is one. @param {{text: string}[]} parts @param {number} length */
function restInWords(parts, length) {
	const left = parts.reduce((sum, part) => sum + part.text.length, -length);
	return left > 0 ? `Show ${grouped(Math.min(SHOWN, left))} more of ${grouped(left)} characters` : "";
}

/** @param {string[]} pieces */
function wrapped(pieces) {
	return pieces.flatMap((piece, i) => (i === 0 ? piece : [preact.h("wbr", null), piece]));
}

/**
 * A text of any length, with its line breaks, or the parts of a text with their marks. The rest of a long one comes step by step.
 * @param {{text?: string, parts?: Part[], name?: string}} props
 */
function LongText({ text = "", parts = [{ text }], name = "" }) {
	const [length, setLength] = preactHooks.useState(SHOWN);
	const shown = openingOf(parts, length).map((it) => (it.mark ? preact.h(it.mark, null, wrapped(it.pieces)) : wrapped(it.pieces)));
	const rest = restInWords(parts, length);
	return html`<div class="text ${name}" dir="auto">${shown}</div>
		${rest && html`<p class="more"><button type="button" onClick=${() => setLength(length + SHOWN)}>${rest}</button></p>`}`;
}
