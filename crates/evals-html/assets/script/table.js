// The table of cases: a real table of which only the rows near the visible ones are in the document.

/** Rows in the document, unless more are visible. */
const DRAWN = 60;

/** Rows that are drawn above the first visible one, and the step in which the drawn part moves. */
const LEAD = 16;
const STEP = 8;

/** Rows on paper. */
const PRINTED = 50;

/** @param {{page: CasesPage, columns: Column[], rows: number[], showsAll: boolean, isPrinting: boolean}} props */
function CaseTable({ page, columns, rows, showsAll, isPrinting }) {
	const scroller = preactHooks.useRef(/** @type {HTMLDivElement | null} */ (null));
	const [top, setTop] = preactHooks.useState(0);
	const [sizes, setSizes] = preactHooks.useState({ row: 28, visible: 30 });

	preactHooks.useLayoutEffect(() => {
		const element = scroller.current;
		const row = element?.querySelector("tbody tr[aria-rowindex]")?.getBoundingClientRect().height;
		if (!element || !row || isPrinting) return;
		const visible = Math.ceil(element.clientHeight / row);
		if (row !== sizes.row || visible !== sizes.visible) setSizes({ row, visible });
	});
	preactHooks.useLayoutEffect(() => {
		if (scroller.current) scroller.current.scrollTop = 0;
		setTop(0);
	}, [rows]);
	preactHooks.useLayoutEffect(() => {
		if (!page.revealsCursor) return;
		reveal(scroller.current, page.cursor, sizes.row);
		// Where the row is not drawn yet, scrolling draws it.
		const row = scroller.current?.querySelector(`tr[aria-rowindex="${page.cursor + 2}"] a`);
		if (!(row instanceof HTMLElement)) return;
		page.revealsCursor = false;
		row.focus({ preventScroll: true });
	});

	const drawn = Math.max(DRAWN, sizes.visible + 2 * LEAD);
	const from = showsAll || isPrinting ? 0 : Math.max(0, Math.min(top - LEAD, rows.length - drawn));
	const to = isPrinting ? Math.min(PRINTED, rows.length) : showsAll ? rows.length : Math.min(rows.length, from + drawn);

	// A row that was drawn before and did not change is the same object, which Preact does not look into.
	const known = preactHooks.useMemo(() => /** @type {Map<string, Node_>} */ (new Map()), [columns, rows, page.view]);
	/** @param {number} row @param {number} position */
	const drawnRow = (row, position) => {
		const isCurrent = position === page.cursor;
		const key = `${row} ${isCurrent}`;
		const node = known.get(key) ?? html`<${Row} key=${row} page=${page} columns=${columns} row=${row} position=${position} isCurrent=${isCurrent} />`;
		known.set(key, node);
		return node;
	};
	const onScroll = () => {
		const first = Math.floor((scroller.current?.scrollTop ?? 0) / sizes.row);
		setTop(first - (first % STEP));
	};
	/** @param {KeyboardEvent} event */
	const onKeyDown = (event) => {
		const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: sizes.visible - 2, PageUp: 2 - sizes.visible, Home: -Infinity, End: Infinity };
		const move = moves[/** @type {keyof typeof moves} */ (event.key)];
		if (event.key === "Enter" && event.target === scroller.current) return page.open(page.rows[page.cursor]);
		if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		page.moveCursor(move);
	};

	return html`<div class="rows" ref=${scroller} tabindex="0" role="region" aria-label="Table of cases" onScroll=${onScroll} onKeyDown=${onKeyDown}>
		<table aria-rowcount=${rows.length + 1} style=${{ minWidth: tableWidth(page.idWidth, columns) }}>
			<colgroup>
				<col style=${{ width: page.idWidth }} />
				${columns.map((column) => html`<col key=${column.key} style=${{ width: columnWidth(column) }} />`)}
			</colgroup>
			<thead>
				<tr aria-rowindex="1">
					<${Head} page=${page} id="id" title="id" />
					${columns.map((column) => html`<${Head} key=${column.key} page=${page} id=${column.key} title=${column.title} column=${column} />`)}
				</tr>
			</thead>
			<tbody>
				<${Spacer} columns=${columns.length + 1} height=${from * sizes.row} />
				${rows.slice(from, to).map((row, i) => drawnRow(row, from + i))}
				<${Spacer} columns=${columns.length + 1} height=${isPrinting ? 0 : (rows.length - to) * sizes.row} />
			</tbody>
		</table>
		${isPrinting && rows.length > PRINTED && html`<p>The first ${PRINTED} of ${grouped(rows.length)} cases.</p>`}
	</div>`;
}

/** The room of the rows that are not drawn. @param {{columns: number, height: number}} props */
function Spacer({ columns, height }) {
	return height > 0 && html`<tr class="spacer" aria-hidden="true"><td colspan=${columns} style=${{ height: `${height}px` }}></td></tr>`;
}

/**
 * Scrolls until a row is visible below the head.
 * @param {HTMLElement | null} scroller
 * @param {number} position
 * @param {number} height
 */
function reveal(scroller, position, height) {
	if (!scroller) return;
	const head = scroller.querySelector("thead")?.getBoundingClientRect().height ?? 0;
	const above = position * height;
	const below = above + height + head - scroller.clientHeight;
	if (scroller.scrollTop > above) scroller.scrollTop = above;
	else if (scroller.scrollTop < below) scroller.scrollTop = below;
}

/** The head of a column, which sorts by it. @param {{page: CasesPage, id: string, title: string, column?: Column}} props */
function Head({ page, id, title, column }) {
	const sort = page.view.sort?.key === id ? page.view.sort : null;
	const direction = sort ? (sort.isDescending ? "descending" : "ascending") : "none";
	const arrow = sort ? (sort.isDescending ? "▼" : "▲") : "";
	return html`<th scope="col" class=${column ? column.kind : "id"} aria-sort=${direction}>
		<button type="button" onClick=${() => page.sortBy(id, column)}>
			${oneLine(title)}${arrow && html`<span class="arrow" aria-hidden="true"> ${arrow}</span>`}
		</button>
	</th>`;
}

/** @param {{page: CasesPage, columns: Column[], row: number, position: number, isCurrent: boolean}} props */
function Row({ page, columns, row, position, isCurrent }) {
	const id = page.table.ids[row];
	/** @param {MouseEvent} event */
	const onClick = (event) => {
		const isLink = event.target instanceof Element && event.target.closest("a");
		if (!isLink && getSelection()?.isCollapsed !== false) page.open(row);
	};
	return html`<tr aria-rowindex=${position + 2} class=${isCurrent ? "current" : ""} onClick=${onClick}>
		<th scope="row" class="id">
			<a href=${page.linkTo(id)} tabindex=${isCurrent ? 0 : -1} onFocus=${() => page.setCursor(position)}><bdi>${oneLine(id)}</bdi></a>
		</th>
		${columns.map((column) => tableCell(column, column.cells[row]))}
	</tr>`;
}

/** @param {Column} column @param {Cell} cell */
function tableCell(column, cell) {
	if (cell !== null && typeof cell === "object" && !Array.isArray(cell)) {
		return html`<td key=${column.key} class="${column.kind} undefined" title=${oneLine(cell.undefined)}>undefined</td>`;
	}
	return html`<td key=${column.key} class="${column.kind} ${verdictClass(column, cell)}"><bdi>${oneLine(shownOf(cell))}</bdi></td>`;
}

/** @param {Column} column @param {Cell} cell */
function verdictClass(column, cell) {
	const value = column.kind === "verdict" ? numberOf(cell) : null;
	if (value === null) return "";
	return value === 1 ? "passed" : value === 0 ? "failed" : "mixed";
}

/** The width of the column of ids. @param {string[]} ids */
function widthOfIds(ids) {
	return `min(${ids.reduce((longest, id) => Math.max(longest, id.length), 5) + 3}ch, var(--cell))`;
}

/** @type {WeakMap<Column, string>} */
const columnWidths = new WeakMap();

/** The width of a column. Columns of text share what the others leave. @param {Column} column */
function columnWidth(column) {
	if (column.kind === "text") return "auto";
	const known = columnWidths.get(column);
	if (known !== undefined) return known;
	const longest = column.cells.reduce((width, cell) => Math.max(width, shownOf(cell).length), 0);
	const word = Math.max(...column.title.split(/[\s-]/).map((it) => it.length));
	const width = `min(${Math.max(0.9 * longest + 3, word + 4, 8)}ch, var(--cell))`;
	columnWidths.set(column, width);
	return width;
}

/** The width below which the table scrolls sideways. @param {string} idWidth @param {Column[]} columns */
function tableWidth(idWidth, columns) {
	const widths = columns.map((column) => (column.kind === "text" ? "var(--words)" : columnWidth(column)));
	return `calc(${[idWidth, ...widths].join(" + ")})`;
}
