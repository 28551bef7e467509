// @ts-check
// Foreign text: only as text nodes, with control and bidirectional characters made visible.

/** Control characters but tab and line feed, and those that Unicode's bidirectional algorithm calls marks, embeddings, overrides and isolates. */
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters of a text that are shown at first, and that each press of the button adds. More in one go would stall the page. */
const SHOWN = 20_000;

/** Characters of a text that a cell of a table shows. */
const CELL = 300;

/**
 * The text with visible escapes in place of these characters, as the console writes them.
 * @param {string} text
 */
function visible(text) {
	return text.replace(HIDDEN, (it) => (it === "\r" ? "\\r" : `\\u{${it.charCodeAt(0).toString(16)}}`));
}

/**
 * The opening of a text in one line.
 * @param {string} text
 */
function oneLine(text) {
	const opening = text.slice(0, CELL).replace(/\s+/g, " ").trim();
	return visible(opening) + (text.length > CELL ? "…" : "");
}

/**
 * The opening of a text, without half a character at its end.
 * @param {string} text
 * @param {number} length
 */
function opening(text, length) {
	const isHalf = length < text.length && /[\ud800-\udbff]/.test(text.charAt(length - 1));
	return text.slice(0, isHalf ? length - 1 : length);
}

/** @param {number} count */
function grouped(count) {
	return count.toLocaleString("en");
}

/**
 * A text of any length, with its line breaks, or the parts of a text with their marks. The rest of a long one comes step by step.
 * @param {{text?: string, parts?: {text: string, mark?: "ins" | "del"}[], name?: string}} props
 */
function LongText({ text = "", parts = [{ text }], name = "" }) {
	const [length, setLength] = preactHooks.useState(SHOWN);
	const total = parts.reduce((sum, part) => sum + part.text.length, 0);
	let left = length;
	const shown = [];
	for (const part of parts) {
		if (left <= 0) break;
		const piece = visible(opening(part.text, left));
		shown.push(part.mark ? preact.h(part.mark, null, piece) : piece);
		left -= part.text.length;
	}
	const more = Math.min(SHOWN, total - length);
	return html`<div class="text ${name}" dir="auto">${shown}</div>
		${more > 0 &&
		html`<p class="more">
			<button type="button" onClick=${() => setLength(length + SHOWN)}>
				Show ${grouped(more)} more of ${grouped(total - length)} characters
			</button>
		</p>`}`;
}
