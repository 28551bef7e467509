// Above the table: search, filters, columns, and how many cases are shown.

/** Columns of labels and verdicts whose filters are always in sight. */
const FIRST_FILTERS = 3;

/** @param {{page: CasesPage}} props */
function Toolbar({ page }) {
	const filtered = page.rows.length !== page.table.ids.length;
	return html`<div class="toolbar">
		<div class="line">
			<label class="search">
				<span>Search</span>
				<input
					type="search"
					value=${page.view.query}
					placeholder="words of question, answer or reason"
					autocomplete="off"
					spellcheck=${false}
					aria-keyshortcuts="/"
					onFocus=${() => page.readTexts()}
					onInput=${(/** @type {InputEvent} */ event) => page.setQuery(/** @type {HTMLInputElement} */ (event.target).value)}
				/>
			</label>
			<p role="status" class="count">${page.countInWords()}</p>
			<span class="progress muted">${page.progressInWords()}</span>
			${filtered && html`<button type="button" onClick=${() => page.show({ ...emptyView(), sort: page.view.sort })}>Show all cases</button>`}
			<span class="gap"></span>
			<${ColumnChoice} page=${page} />
			<label><input type="checkbox" checked=${page.showsAll} onChange=${() => page.toggleAll()} /> all rows in the page</label>
			<button type="button" onClick=${() => page.saveCsv()}>CSV of these rows</button>
		</div>
		${page.failure && html`<p class="problem">${page.failure}</p>`}
		<${Filters} page=${page} />
	</div>`;
}

/** The filters of columns: the first few, those that are on, and the rest behind a button. @param {{page: CasesPage}} props */
function Filters({ page }) {
	const offered = page.table.columns.filter((it) => it.kind === "label" || it.kind === "verdict");
	const first = offered.filter((it, i) => i < FIRST_FILTERS || page.view.filters.has(it.key));
	const rest = offered.filter((it) => !first.includes(it));
	/** @param {Column} column */
	const chips = (column) => html`<${Chips} key=${column.key} page=${page} column=${column} />`;
	return html`<div class="filters">
			${first.map(chips)}
			<${Ranges} page=${page} />
		</div>
		${rest.length > 0 &&
		html`<details>
			<summary>More filters (${rest.length})</summary>
			<div class="filters">${rest.map(chips)}</div>
		</details>`}`;
}

/** The filters of a column of labels or verdicts. @param {{page: CasesPage, column: Column}} props */
function Chips({ page, column }) {
	const offered = preactHooks.useMemo(() => choices(column), [column]);
	const chosen = page.view.filters.get(column.key) ?? [];
	if (offered.length < 2 && chosen.length === 0) return null;
	const others = chosen.filter((value) => !offered.some((it) => it.value === value));
	const isLong = offered.length > BUTTONS + 1;
	const shown = isLong ? offered.filter((it, i) => i < BUTTONS || chosen.includes(it.value)) : offered;
	const hidden = offered.filter((it) => !shown.includes(it));
	/** @param {string} value */
	const toggle = (value) => page.setFilters(toggled(page.view.filters, column.key, value));
	return html`<div class="chips" role="group" aria-label=${oneLine(column.title)}>
		<span class="name">${oneLine(column.title)}</span>
		${shown.map((it) => html`<${Chip} key=${it.value} title=${it.title} count=${it.count} isOn=${chosen.includes(it.value)} toggle=${() => toggle(it.value)} />`)}
		${others.map((it) => html`<${Chip} key=${it} title=${filterInWords(column, it)} isOn=${true} toggle=${() => toggle(it)} />`)}
		${hidden.length > 0 &&
		html`<select aria-label="more of ${oneLine(column.title)}" onChange=${(/** @type {Event} */ event) => {
			const list = /** @type {HTMLSelectElement} */ (event.target);
			if (list.value !== "") toggle(hidden[Number(list.value)].value);
			list.value = "";
		}}>
			<option value="">${hidden.length} more…</option>
			${hidden.map((it, i) => html`<option key=${it.value} value=${i}>${oneLine(it.title)} (${grouped(it.count)})</option>`)}
		</select>`}
	</div>`;
}

/** @param {{title: string, count?: number, isOn: boolean, toggle: () => void}} props */
function Chip({ title, count, isOn, toggle }) {
	return html`<button type="button" class="chip" aria-pressed=${String(isOn)} onClick=${toggle}>
		<bdi>${oneLine(title)}</bdi>${count !== undefined && html`<span class="number"> ${grouped(count)}</span>`}
	</button>`;
}

/** @param {{page: CasesPage}} props */
function ColumnChoice({ page }) {
	return html`<details class="menu">
		<summary>Columns</summary>
		<div class="sheet">
			${page.table.columns.map(
				(column) => html`<label key=${column.key}>
					<input type="checkbox" checked=${page.visible.has(column.key)} onChange=${() => page.toggleColumn(column.key)} />
					${" "}${oneLine(column.title)}
				</label>`,
			)}
		</div>
	</details>`;
}

/** Filters of numbers: those that are on, and fields for all. @param {{page: CasesPage}} props */
function Ranges({ page }) {
	const columns = page.table.columns.filter((it) => it.kind === "number" || it.kind === "seconds");
	if (columns.length === 0) return null;
	const active = columns.flatMap((column) => (page.view.filters.get(column.key) ?? []).map((value) => ({ column, value })));
	return html`<div class="chips" role="group" aria-label="numbers">
		<details class="menu">
			<summary>Numbers</summary>
			<div class="sheet grid">
				${columns.map((column) => html`<${RangeFields} key=${column.key} page=${page} column=${column} />`)}
			</div>
		</details>
		${active.map(
			({ column, value }) => html`<${Chip}
				key=${column.key + value}
				title="${column.title}: ${filterInWords(column, value)}"
				isOn=${true}
				toggle=${() => page.setFilters(toggled(page.view.filters, column.key, value))}
			/>`,
		)}
	</div>`;
}

/** @param {{page: CasesPage, column: Column}} props */
function RangeFields({ page, column }) {
	const [first] = page.view.filters.get(column.key) ?? [];
	const range = first === undefined ? null : readRange(first);
	/** @param {number | undefined} value */
	const shown = (value) => (value === undefined || !Number.isFinite(value) ? "" : String(value));
	const [low, high] = [shown(range?.low), shown(range?.high)];
	/** @param {string} from @param {string} to */
	const apply = (from, to) => {
		page.setFilters(replaced(page.view.filters, column.key, from === "" && to === "" ? [] : [`${from}..=${to}`]));
	};
	/** @param {Event} event */
	const value = (event) => /** @type {HTMLInputElement} */ (event.target).value.trim();
	const title = oneLine(column.title);
	return html`<span>${title}</span>
		<input type="number" step="any" aria-label="${title}, at least" placeholder="at least" value=${low} onChange=${(/** @type {Event} */ event) => apply(value(event), high)} />
		<input type="number" step="any" aria-label="${title}, at most" placeholder="at most" value=${high} onChange=${(/** @type {Event} */ event) => apply(low, value(event))} />
		${column.cells.some(isUndefined)
			? html`<button type="button" class="chip" aria-pressed=${String(first === UNDEFINED)} onClick=${() => page.setFilters(toggled(page.view.filters, column.key, UNDEFINED))}>${UNDEFINED}</button>`
			: html`<span></span>`}`;
}
