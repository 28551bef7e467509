// The page of cases: its state, what changes it, and what it draws.

/** Milliseconds after the last key until the address holds the query. Browsers refuse many changes in a short time. */
const ADDRESS_PAUSE = 300;

class CasesPage {
	/** @param {Element} place @param {Contents} contents @param {Table} table */
	constructor(place, contents, table) {
		this.place = place;
		this.contents = contents;
		this.table = table;
		/** @type {Blocks<Case>} */
		this.cases = new Blocks("cases");
		/** @type {Blocks<Passage>} */
		this.passages = new Blocks("passages");
		this.search = new TextSearch(table, this.cases);
		this.rowOf = new Map(table.ids.map((id, row) => [id, row]));
		this.idWidth = widthOfIds(table.ids);
		this.visible = new Set(table.columns.filter((it) => it.is_visible).map((it) => it.key));
		this.view = readFragment(location.hash) ?? emptyView();
		/** @type {number[]} The rows shown, in their order. */
		this.rows = [];
		/** @type {Set<number>} Rows that the filters let through and the query does not, as far as their texts are read. */
		this.unmatched = new Set();
		/** The position of the row that keys act on. */
		this.cursor = 0;
		/** Whether the table has yet to scroll to that row and focus it. */
		this.revealsCursor = false;
		/** The tab of a case that the reader chose, which the next case opens too. */
		this.tab = "";
		this.showsAll = false;
		this.isPrinting = false;
		this.hasShortcuts = true;
		this.failure = "";
		/** @type {ReturnType<typeof setTimeout> | undefined} */
		this.pending = undefined;
		this.select();
	}

	/** Chooses the rows of the view. */
	select() {
		const filtered = filterRows(this.table, this.view.filters);
		this.rows = sortRows(this.table, this.search.matching(filtered, this.view.query), this.view.sort);
		this.unmatched = this.view.query === "" ? new Set() : new Set(filtered);
		for (const row of this.rows) this.unmatched.delete(row);
		this.cursor = 0;
		if (this.view.query !== "") this.readTexts();
	}

	draw() {
		preact.render(html`<${Cases} page=${this} />`, this.place);
	}

	/** Shows another view and writes it to the address. @param {View} view */
	show(view) {
		this.view = view;
		this.select();
		this.draw();
		this.writeAddressSoon();
	}

	writeAddressSoon() {
		clearTimeout(this.pending);
		this.pending = setTimeout(() => this.writeAddress(), ADDRESS_PAUSE);
	}

	writeAddress() {
		clearTimeout(this.pending);
		const fragment = writeFragment(this.view);
		if (fragment !== location.hash && (fragment !== "#" || location.hash !== "")) history.replaceState(null, "", fragment);
	}

	/** Follows the address: a link was pressed, or the reader went back. */
	followAddress() {
		const view = readFragment(location.hash);
		if (!view) return;
		const isSameTable = writeFragment({ ...view, open: null }) === writeFragment({ ...this.view, open: null });
		const wasClosed = this.view.open === null;
		this.view = view;
		if (!isSameTable) this.select();
		this.draw();
		if (wasClosed && view.open === null && !isSameTable) document.getElementById("cases")?.scrollIntoView();
	}

	/** @param {string} query */
	setQuery(query) {
		this.show({ ...this.view, query });
	}

	/** @param {Map<string, string[]>} filters */
	setFilters(filters) {
		this.show({ ...this.view, filters });
	}

	/**
	 * Sorts by a column: worst first, then the other direction, then the order of the file.
	 * @param {string} key
	 * @param {Column | undefined} column
	 */
	sortBy(key, column) {
		const first = startsDescending(column);
		const old = this.view.sort?.key === key ? this.view.sort : null;
		const sort = !old ? { key, isDescending: first } : old.isDescending === first ? { key, isDescending: !first } : null;
		this.show({ ...this.view, sort });
	}

	/** The address of a case in this view. @param {string} id */
	linkTo(id) {
		return writeFragment({ ...this.view, open: id });
	}

	/** @param {number} row */
	open(row) {
		if (row === undefined) return;
		this.cursor = Math.max(0, this.rows.indexOf(row));
		this.writeAddress();
		location.hash = this.linkTo(this.table.ids[row]);
	}

	close() {
		this.view = { ...this.view, open: null };
		this.writeAddress();
		this.draw();
		const link = this.place.querySelector("tr.current a") ?? this.place.querySelector(".rows");
		if (link instanceof HTMLElement) link.focus();
	}

	/** Shows the case that many rows further on. @param {number} steps */
	step(steps) {
		const row = this.rowOf.get(this.view.open ?? "");
		const position = row === undefined ? -1 : this.rows.indexOf(row);
		const next = this.rows[position + steps];
		if (position < 0 || next === undefined) return;
		this.cursor = position + steps;
		this.view = { ...this.view, open: this.table.ids[next] };
		this.draw();
		this.writeAddressSoon();
	}

	/** @param {number} steps */
	moveCursor(steps) {
		this.revealsCursor = true;
		this.cursor = Math.max(0, Math.min(this.cursor + steps, this.rows.length - 1));
		this.draw();
	}

	/** @param {number} position */
	setCursor(position) {
		if (position === this.cursor) return;
		this.cursor = position;
		this.draw();
	}

	/** @param {string} key */
	toggleColumn(key) {
		this.visible = new Set(this.visible);
		if (!this.visible.delete(key)) this.visible.add(key);
		this.draw();
	}

	/** @param {string} name */
	chooseTab(name) {
		this.tab = name;
		this.draw();
	}

	toggleAll() {
		this.showsAll = !this.showsAll;
		this.draw();
	}

	toggleShortcuts() {
		this.hasShortcuts = !this.hasShortcuts;
		this.draw();
	}

	/** @param {boolean} isPrinting */
	print(isPrinting) {
		this.isPrinting = isPrinting;
		this.draw();
	}

	saveCsv() {
		download("cases.csv", csv(this.table, this.rows));
	}

	/** Reads the texts of all cases for the search. */
	readTexts() {
		/** @param {number[]} read */
		const afterSlice = (read) => {
			this.addMatches(read);
			this.draw();
		};
		this.search.start(afterSlice).catch((error) => {
			this.failure = `The search is incomplete: ${error.message}.`;
			this.draw();
		});
	}

	/** Adds those rows whose texts match now that they are read, without moving the reader. @param {number[]} read */
	addMatches(read) {
		const added = this.search.matching(read.filter((row) => this.unmatched.has(row)), this.view.query);
		if (added.length === 0) return;
		for (const row of added) this.unmatched.delete(row);
		const cursor = this.rows[this.cursor];
		// In the order of the file first, as rows with equal values stay in it.
		this.rows = sortRows(this.table, [...this.rows, ...added].sort((a, b) => a - b), this.view.sort);
		this.cursor = Math.max(0, this.rows.indexOf(cursor));
	}

	countInWords() {
		const [shown, all] = [grouped(this.rows.length), grouped(this.table.ids.length)];
		return this.rows.length === this.table.ids.length ? `${all} cases` : `${shown} of ${all} cases`;
	}

	/** How far the texts are read that a query needs; empty when they are. */
	progressInWords() {
		const isReading = this.view.query !== "" && this.search.hasStarted && !this.search.isComplete && this.failure === "";
		return isReading ? `${Math.floor((100 * this.search.read) / this.search.blocks)} % of the texts searched` : "";
	}
}

/** @param {{page: CasesPage}} props */
function Cases({ page }) {
	const columns = preactHooks.useMemo(() => page.table.columns.filter((it) => page.visible.has(it.key)), [page.visible]);
	return html`
		${page.contents.texts === "omitted" && html`<p class="muted">The texts of cases and documents were left out of this page.</p>`}
		<${Toolbar} page=${page} />
		<${CaseTable} page=${page} columns=${columns} rows=${page.rows} showsAll=${page.showsAll} isPrinting=${page.isPrinting} />
		${page.rows.length === 0 && html`<p>No case matches.</p>`}
		<p class="keys">
			<kbd>/</kbd> search, <kbd>J</kbd> <kbd>K</kbd> next and previous, <kbd>Enter</kbd> open, <kbd>Esc</kbd> close.
			<label><input type="checkbox" checked=${page.hasShortcuts} onChange=${() => page.toggleShortcuts()} /> single keys</label>
		</p>
		${page.view.open !== null && html`<${CasePanel} page=${page} id=${page.view.open} />`}
	`;
}

/** What single keys do. @param {CasesPage} page @param {KeyboardEvent} event */
function onKey(page, event) {
	if (event.ctrlKey || event.metaKey || event.altKey || !page.hasShortcuts) return;
	const target = event.target instanceof HTMLElement ? event.target : null;
	const search = page.place.querySelector("input[type=search]");
	if (target?.matches("input:not([type=checkbox]), select, textarea")) {
		if (event.key === "Escape" && target === search) page.setQuery("");
		return;
	}
	const key = event.key.toLowerCase();
	const isOpen = page.view.open !== null;
	if (key === "/" && !isOpen && search instanceof HTMLElement) {
		event.preventDefault();
		search.focus();
	} else if (key === "j" || key === "k") {
		const steps = key === "j" ? 1 : -1;
		if (isOpen) page.step(steps);
		else page.moveCursor(steps);
	}
}

/** Draws the cases into the page. */
async function showCases() {
	const section = document.getElementById("cases");
	const contents = document.getElementById("page");
	if (!section || !contents) return;
	const place = document.createElement("div");
	section.append(place);
	try {
		if (typeof DecompressionStream === "undefined") {
			throw new Error("this browser is too old for the cases: it lacks DecompressionStream, which Chrome has since 103, Firefox since 113 and Safari since 16.4");
		}
		const table = await inflated("table");
		const page = new CasesPage(place, JSON.parse(contents.textContent ?? ""), table);
		page.draw();
		addEventListener("hashchange", () => page.followAddress());
		addEventListener("keydown", (event) => onKey(page, event));
		addEventListener("beforeprint", () => page.print(true));
		addEventListener("afterprint", () => page.print(false));
	} catch (error) {
		const problem = document.createElement("p");
		problem.className = "problem";
		problem.textContent = `The cases cannot be shown: ${error instanceof Error ? error.message : String(error)}.`;
		place.replaceChildren(problem);
	}
}

showThemeChoice();
showCases();
