// Filters of columns: which rows they keep, and the choices that a page offers.

/** The filter of cells without a value. */
const UNDEFINED = "undefined";

/** Labels of one column that the page offers as buttons. The rest is in a list. */
const BUTTONS = 8;

/** What a column of verdicts offers. */
const VERDICTS = [
	{ value: "0..=0", title: "failed" },
	{ value: "0.000001..1", title: "mixed" },
	{ value: "1..=1", title: "passed" },
	{ value: UNDEFINED, title: UNDEFINED },
];

/** @typedef {{low: number, high: number, includesHigh: boolean}} Interval */

/** Reads `LOW..HIGH` or `LOW..=HIGH`; either end may be missing. @param {string} text @returns {Interval | null} */
function readRange(text) {
	const found = /^(.*?)\.\.(=?)(.*)$/.exec(text);
	if (!found) return null;
	const low = found[1] === "" ? -Infinity : Number(found[1]);
	const high = found[3] === "" ? Infinity : Number(found[3]);
	if (Number.isNaN(low) || Number.isNaN(high)) return null;
	return { low, high, includesHigh: found[2] === "=" || found[3] === "" };
}

/**
 * Whether a cell is what the filter asks for.
 * @param {Column} column
 * @param {string} filter
 * @returns {(cell: Cell) => boolean}
 */
function predicate(column, filter) {
	if (!isNumeric(column)) return (cell) => cell === filter || (filter === UNDEFINED && isUndefined(cell));
	if (filter === UNDEFINED) return isUndefined;
	const range = readRange(filter);
	if (!range) return () => false;
	return (cell) => {
		const value = numberOf(cell);
		return value !== null && value >= range.low && (range.includesHigh ? value <= range.high : value < range.high);
	};
}

/** The rows that pass every column's filter, in the order of the file. @param {Table} table @param {Map<string, string[]>} filters */
function filterRows(table, filters) {
	let rows = table.ids.map((_, row) => row);
	for (const [key, values] of filters) {
		const column = table.columns.find((it) => it.key === key);
		if (!column) continue;
		const passes = values.map((value) => predicate(column, value));
		rows = rows.filter((row) => passes.some((pass) => pass(column.cells[row])));
	}
	return rows;
}

/** @typedef {{value: string, title: string, count: number}} Choice */

/**
 * What a column of labels or verdicts offers, with the number of rows: labels by frequency, verdicts from failed to passed.
 * @param {Column} column
 * @returns {Choice[]}
 */
function choices(column) {
	if (column.kind === "verdict") {
		/** @param {string} value */
		const count = (value) => column.cells.filter(predicate(column, value)).length;
		return VERDICTS.map((it) => ({ ...it, count: count(it.value) })).filter((it) => it.count > 0);
	}
	/** @type {Map<string, number>} */
	const counts = new Map();
	for (const cell of column.cells) {
		const label = isUndefined(cell) ? UNDEFINED : cell;
		if (typeof label === "string") counts.set(label, (counts.get(label) ?? 0) + 1);
	}
	const offered = [...counts].map(([value, count]) => ({ value, title: value, count }));
	return offered.sort((a, b) => b.count - a.count || compareTexts(a.value, b.value));
}

/** A filter in words. @param {Column} column @param {string} filter */
function filterInWords(column, filter) {
	const verdict = column.kind === "verdict" ? VERDICTS.find((it) => it.value === filter) : undefined;
	if (verdict) return verdict.title;
	const range = isNumeric(column) ? readRange(filter) : null;
	if (!range) return filter;
	if (range.low === -Infinity) return `${range.includesHigh ? "at most" : "below"} ${range.high}`;
	if (range.high === Infinity) return `at least ${range.low}`;
	if (range.low === range.high) return String(range.low);
	return `${range.low} to ${range.includesHigh ? "" : "below "}${range.high}`;
}

/**
 * The filters with one filter of a column added or taken away.
 * @param {Map<string, string[]>} filters
 * @param {string} key
 * @param {string} value
 */
function toggled(filters, key, value) {
	const old = filters.get(key) ?? [];
	return replaced(filters, key, old.includes(value) ? old.filter((it) => it !== value) : [...old, value]);
}

/**
 * The filters with other filters of a column.
 * @param {Map<string, string[]>} filters
 * @param {string} key
 * @param {string[]} values
 */
function replaced(filters, key, values) {
	const changed = new Map(filters);
	if (values.length > 0) changed.set(key, values);
	else changed.delete(key);
	return changed;
}
