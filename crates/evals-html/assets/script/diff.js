// The words in which two texts differ.

/** @typedef {{text: string, mark?: "ins" | "del" | "mark"}} Part */
/** @typedef {{before: Part[], after: Part[], note: string}} Difference */

/** Characters of each text that are compared. The rest is shown without marks. */
const COMPARED = 100_000;

/** Words that may differ before the search gives up: its time grows with their number times the length of the texts. */
const EDITS = 1_000;

/**
 * Compares two texts word by word: a word of `before` that `after` lacks is marked `del`, the opposite `ins`.
 * @param {string} before
 * @param {string} after
 * @returns {Difference}
 */
function difference(before, after) {
	const [old, young] = [words(before.slice(0, COMPARED)), words(after.slice(0, COMPARED))];
	const [a, b] = numbered(old, young);
	const common = commonWords(a, b);
	const notes = [];
	if (Math.max(before.length, after.length) > COMPARED) {
		notes.push(`Only the first ${grouped(COMPARED)} characters are compared.`);
	}
	if (!common.isComplete) notes.push("The texts differ in too many words to find all that they share.");
	return {
		before: [...parts(old, common.inA, "del"), ...rest(before)],
		after: [...parts(young, common.inB, "ins"), ...rest(after)],
		note: notes.join(" "),
	};
}

/** Words in a row that a passage and an answer share, from which on they are evidence of it. A shorter answer has to be there as a whole. */
const EVIDENCE = 4;

/** A passage with the words marked that the answer took from it. @param {string} text @param {string} answer @returns {Part[]} */
function evidence(text, answer) {
	const isWord = (/** @type {string} */ it) => /[\p{L}\p{N}]/u.test(it);
	const key = (/** @type {string} */ it) => it.trim().toLowerCase();
	const wanted = words(answer.slice(0, COMPARED)).filter(isWord).map(key);
	const length = Math.min(EVIDENCE, wanted.length);
	if (length === 0) return [{ text }];
	const sequences = new Set(wanted.slice(length - 1).map((_, i) => wanted.slice(i, i + length).join(" ")));
	const all = words(text.slice(0, COMPARED));
	const places = [...all.keys()].filter((place) => isWord(all[place]));
	const isPlain = new Uint8Array(all.length).fill(1);
	for (let i = 0; i + length <= places.length; i++) {
		const sequence = places.slice(i, i + length);
		if (sequences.has(sequence.map((place) => key(all[place])).join(" "))) isPlain.fill(0, sequence[0], sequence[length - 1] + 1);
	}
	return [...parts(all, isPlain, "mark"), ...rest(text)];
}

/** Words and punctuation, each with the white space behind it. @param {string} text */
function words(text) {
	return text.match(/^\s+|(?:[\p{L}\p{N}\p{M}_]+|[^\s])\s*/gu) ?? [];
}

/** @param {string} text */
function rest(text) {
	return text.length > COMPARED ? [{ text: text.slice(COMPARED) }] : [];
}

/** The words as numbers, equal ones with the same number. @param {string[]} before @param {string[]} after */
function numbered(before, after) {
	/** @type {Map<string, number>} */
	const known = new Map();
	/** @param {string} word */
	const number = (word) => {
		const key = word.trimEnd();
		const found = known.get(key) ?? known.size;
		known.set(key, found);
		return found;
	};
	return [Int32Array.from(before, number), Int32Array.from(after, number)];
}

/**
 * Which words of the two sequences belong to their longest common subsequence, by Myers' greedy algorithm ("An O(ND) difference
 * algorithm and its variations", 1986). Equal words at both ends are found without it.
 * @param {Int32Array} a
 * @param {Int32Array} b
 */
function commonWords(a, b) {
	const inA = new Uint8Array(a.length);
	const inB = new Uint8Array(b.length);
	let start = 0;
	while (start < a.length && start < b.length && a[start] === b[start]) start++;
	let [endA, endB] = [a.length, b.length];
	while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1];
	inA.fill(1, 0, start).fill(1, endA);
	inB.fill(1, 0, start).fill(1, endB);
	const path = editPath(a.subarray(start, endA), b.subarray(start, endB));
	for (const [x, y] of path ?? []) {
		inA[start + x] = 1;
		inB[start + y] = 1;
	}
	return { inA, inB, isComplete: path !== null };
}

/**
 * The pairs of equal words on the shortest way from one sequence to the other; `null` if it has more than `EDITS` edits.
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @returns {[number, number][] | null}
 */
function editPath(a, b) {
	const limit = Math.min(EDITS, a.length + b.length);
	// furthest[k + limit + 1]: how many words of `a` a way with d edits gets through on diagonal k, where x - y = k.
	const furthest = new Int32Array(2 * limit + 3);
	/** @type {Int32Array[]} */
	const trace = [];
	for (let edits = 0; edits <= limit; edits++) {
		trace.push(furthest.slice(limit + 1 - edits - 1, limit + 1 + edits + 2));
		for (let k = -edits; k <= edits; k += 2) {
			const at = k + limit + 1;
			const isInsertion = k === -edits || (k !== edits && furthest[at - 1] < furthest[at + 1]);
			let x = isInsertion ? furthest[at + 1] : furthest[at - 1] + 1;
			while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
			furthest[at] = x;
			if (x >= a.length && x - k >= b.length) return walkBack(trace, edits, a.length, b.length);
		}
	}
	return null;
}

/**
 * @param {Int32Array[]} trace
 * @param {number} edits
 * @param {number} x
 * @param {number} y
 */
function walkBack(trace, edits, x, y) {
	/** @type {[number, number][]} */
	const pairs = [];
	for (let d = edits; d > 0; d--) {
		const furthest = trace[d];
		const k = x - y;
		const at = k + d + 1;
		const isInsertion = k === -d || (k !== d && furthest[at - 1] < furthest[at + 1]);
		const previousX = isInsertion ? furthest[at + 1] : furthest[at - 1];
		const previousY = previousX - (isInsertion ? k + 1 : k - 1);
		while (x > previousX && y > previousY) pairs.push([--x, --y]);
		[x, y] = [previousX, previousY];
	}
	while (x > 0 && y > 0) pairs.push([--x, --y]);
	return pairs;
}

/**
 * Joins words of the same kind.
 * @param {string[]} words
 * @param {Uint8Array} isCommon
 * @param {"ins" | "del" | "mark"} mark
 */
function parts(words, isCommon, mark) {
	/** @type {Part[]} */
	const parts = [];
	let start = 0;
	for (let end = 1; end <= words.length; end++) {
		if (end < words.length && isCommon[end] === isCommon[start]) continue;
		const text = words.slice(start, end).join("");
		parts.push(isCommon[start] ? { text } : { text, mark });
		start = end;
	}
	return parts;
}
