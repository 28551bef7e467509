// Search in the texts of all cases. The texts are read block by block while the page is idle, so that typing never waits.

/** Milliseconds that a slice of work may take before the page gets its turn. */
const SLICE = 12;

class TextSearch {
	/** @param {Table} table @param {Blocks<Case>} cases */
	constructor(table, cases) {
		this.cases = cases;
		this.blocks = Math.ceil(table.ids.length / BLOCK);
		this.read = 0;
		this.hasStarted = false;
		/** @type {string[]} What the columns hold, and the texts of the cases as soon as they are read. */
		this.texts = table.ids.map((id, row) => {
			const cells = table.columns.map((column) => column.cells[row]);
			return [id, ...cells.filter((cell) => typeof cell === "string")].join("\n").toLowerCase();
		});
	}

	get isComplete() {
		return this.read === this.blocks;
	}

	/** Reads the texts of all cases, once. Calls back after each slice, with its rows. @param {(rows: number[]) => void} afterSlice */
	async start(afterSlice) {
		if (this.hasStarted) return;
		this.hasStarted = true;
		let end = performance.now() + SLICE;
		/** @type {number[]} */
		let rows = [];
		while (this.read < this.blocks) {
			const first = this.read * BLOCK;
			const block = await this.cases.block(this.read, "once");
			block.forEach((it, i) => {
				this.texts[first + i] += "\n" + searchable(it);
				rows.push(first + i);
			});
			this.read += 1;
			if (performance.now() > end || this.isComplete) {
				afterSlice(rows);
				rows = [];
				await idle();
				end = performance.now() + SLICE;
			}
		}
	}

	/** The rows in which all words occur, whatever their case. @param {number[]} rows @param {string} query */
	matching(rows, query) {
		const wanted = query.toLowerCase().split(/\s+/).filter((it) => it !== "");
		return wanted.length === 0 ? rows : rows.filter((row) => wanted.every((word) => this.texts[row].includes(word)));
	}
}

/** The texts of a case that people search for. @param {Case} it */
function searchable(it) {
	const texts = it.fields.map((field) => field.text);
	for (const run of it.runs) {
		texts.push(...run.fields.map((field) => field.text), run.failure ?? "");
		texts.push(...run.outcomes.map((outcome) => outcome.reason ?? ""));
	}
	return texts.join("\n").toLowerCase();
}

/** Waits until the page has nothing else to do, but not for long. */
function idle() {
	return new Promise((resolve) => {
		if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(undefined), { timeout: 200 });
		else setTimeout(resolve, 0);
	});
}
