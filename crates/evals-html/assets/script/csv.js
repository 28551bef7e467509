// The rows that a page shows, as CSV.

/** What can start a formula in a spreadsheet. Some skip white space before it, or accept signs in full width. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * The rows with all columns. Cells without a value are empty, as in the reports that the program writes.
 * @param {Table} table
 * @param {number[]} rows
 */
function csv(table, rows) {
	const head = ["id", ...table.columns.map((column) => column.title)];
	const lines = rows.map((row) => [table.ids[row], ...table.columns.map((column) => csvValue(column.cells[row]))]);
	return [head, ...lines].map((line) => line.map(csvCell).join(",") + "\r\n").join("");
}

/** @param {Cell} cell */
function csvValue(cell) {
	return Array.isArray(cell) ? String(cell[0]) : typeof cell === "string" ? cell : "";
}

/** A text as one cell. One that a spreadsheet would run as a formula gets an apostrophe. @param {string} text */
function csvCell(text) {
	const isNumber = text.trim() !== "" && Number.isFinite(Number(text));
	const guarded = FORMULA.test(text) && !isNumber ? `'${text}` : text;
	return /[",\r\n]/.test(guarded) ? `"${guarded.replace(/"/g, '""')}"` : guarded;
}

/** Offers a text as a file. @param {string} name @param {string} text */
function download(name, text) {
	const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
	const anchor = document.createElement("a");
	anchor.href = address;
	anchor.download = name;
	anchor.click();
	setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
