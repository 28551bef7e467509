// The columns of the table of cases: their cells as texts and numbers, and the order of rows.

/** @param {Cell} cell */
function isUndefined(cell) {
	return cell !== null && typeof cell === "object" && !Array.isArray(cell);
}

/** The number of a cell; `null` for a cell without a number. @param {Cell} cell */
function numberOf(cell) {
	return Array.isArray(cell) ? cell[0] : null;
}

/** A cell, formatted. @param {Cell} cell */
function shownOf(cell) {
	if (cell === null) return "";
	if (typeof cell === "string") return cell;
	return Array.isArray(cell) ? cell[1] : "undefined";
}

/** @param {Column} column */
function isNumeric(column) {
	return column.kind === "number" || column.kind === "seconds" || column.kind === "verdict";
}

/** The order of ids: by code units, whatever the language of the browser. @param {string} a @param {string} b */
function compareTexts(a, b) {
	return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Sorts rows by a column. Cells without a value come last in both directions, and ties are ordered by id.
 * @param {Table} table
 * @param {number[]} rows
 * @param {Sort | null} sort
 */
function sortRows(table, rows, sort) {
	const column = table.columns.find((it) => it.key === sort?.key);
	if (!sort || (!column && sort.key !== "id")) return rows;
	const direction = sort.isDescending ? -1 : 1;
	/** @type {(row: number) => number | string | null} */
	const value = (row) => {
		if (!column) return table.ids[row];
		const cell = column.cells[row];
		return Array.isArray(cell) ? cell[0] : typeof cell === "string" ? cell : null;
	};
	const keys = new Map(rows.map((row) => [row, value(row)]));
	return rows.slice().sort((a, b) => {
		const [left, right] = [keys.get(a) ?? null, keys.get(b) ?? null];
		if (left === null || right === null) {
			if (left !== right) return left === null ? 1 : -1;
		} else if (left !== right) {
			return left < right ? -direction : direction;
		}
		return compareTexts(table.ids[a], table.ids[b]);
	});
}

/** The direction of a first press on a column's head: the worst cases first. @param {Column | undefined} column */
function startsDescending(column) {
	return column?.higher_is_better === false;
}
