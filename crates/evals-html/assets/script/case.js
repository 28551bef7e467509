// The panel of one case.

/** @param {{page: CasesPage, id: string}} props */
function CasePanel({ page, id }) {
	const dialog = preactHooks.useRef(/** @type {HTMLDialogElement | null} */ (null));
	const [loaded, setLoaded] = preactHooks.useState(/** @type {{id: string, case?: Case, problem?: string}} */ ({ id: "" }));
	const row = page.rowOf.get(id);
	preactHooks.useLayoutEffect(() => {
		dialog.current?.showModal();
		dialog.current?.querySelector("h2")?.focus();
	}, []);
	preactHooks.useEffect(() => {
		let isWanted = true;
		if (row === undefined) {
			setLoaded({ id, problem: `No case of this page has the id ${oneLine(id)}` });
			return;
		}
		page.cases.entry(row).then(
			(it) => isWanted && setLoaded({ id, case: it }),
			(error) => isWanted && setLoaded({ id, problem: error.message }),
		);
		dialog.current?.scrollTo(0, 0);
		// A link inside the case before is gone, and the focus with it.
		if (document.activeElement === document.body) dialog.current?.querySelector("h2")?.focus();
		return () => {
			isWanted = false;
		};
	}, [id]);
	const position = row === undefined ? -1 : page.rows.indexOf(row);
	const place = position < 0 ? "not among the rows shown" : `${grouped(position + 1)} of ${grouped(page.rows.length)}`;
	/** @param {Event} event */
	const onCancel = (event) => {
		event.preventDefault();
		page.close();
	};
	// A selection of text that ends beside the panel is a click on their common ancestor, which is the dialog.
	const pressed = preactHooks.useRef(/** @type {EventTarget | null} */ (null));
	/** @param {Event} event */
	const onClick = (event) => {
		if (event.target === dialog.current && pressed.current === dialog.current) page.close();
	};
	return html`<dialog ref=${dialog} class="panel" aria-labelledby="case-title" onCancel=${onCancel} onMouseDown=${(/** @type {Event} */ event) => (pressed.current = event.target)} onClick=${onClick}>
		<div class="content">
			<header>
				<h2 id="case-title" tabindex="-1"><bdi>${oneLine(id)}</bdi></h2>
				<p class="place">${place}</p>
				<span class="gap"></span>
				<button type="button" disabled=${position <= 0} onClick=${() => page.step(-1)}>Previous <kbd>K</kbd></button>
				<button type="button" disabled=${position < 0 || position + 1 >= page.rows.length} onClick=${() => page.step(1)}>Next <kbd>J</kbd></button>
				<button type="button" onClick=${() => page.close()}>Close <kbd>Esc</kbd></button>
			</header>
			${loaded.problem && html`<p class="problem">${loaded.problem}</p>`}
			${loaded.case && loaded.id === id && html`<${CaseBody} key=${id} page=${page} case=${loaded.case} />`}
		</div>
	</dialog>`;
}

/** @param {{page: CasesPage, case: Case}} props */
function CaseBody({ page, case: it }) {
	const names = [...new Set(it.runs.map(nameOfRun))];
	const chosen = names.includes(page.tab) ? page.tab : names[0];
	const runs = it.runs.filter((run) => nameOfRun(run) === chosen);
	const [before, after] = [runs.find((run) => run.side === "before"), runs.find((run) => run.side === "after")];
	const systems = it.runs.some((run) => run.system) && !it.runs.some((run) => run.side);
	const body =
		before || after
			? html`<${Comparison} page=${page} case=${it} before=${before} after=${after} />`
			: runs.map((run) => html`<${SingleRun} page=${page} case=${it} run=${run} hasOutcomes=${!systems} />`);
	return html`
		${(it.remarks ?? []).map((remark) => html`<p class="remark" key=${remark}>${oneLine(remark)}</p>`)}
		<div class=${it.turns || runs.some((run) => run.said) ? "chat" : undefined}>
			${it.turns && html`<${Turns} page=${page} id=${it.id} turns=${it.turns} />`}
			<${Said} runs=${runs} />
			<${Fields} fields=${it.fields.filter((field) => field.role === "question")} />
		</div>
		${systems && html`<${Outcomes} sides=${names.map((name) => ({ name, outcomes: it.runs.find((run) => nameOfRun(run) === name)?.outcomes ?? [] }))} />`}
		${names.length > 1 ? html`<${Tabs} names=${names} chosen=${chosen} choose=${(/** @type {string} */ name) => page.chooseTab(name)}><div key=${chosen}>${body}</div><//>` : body}
		<${Facts} fields=${it.fields.filter((field) => field.role === "other")} />
	`;
}

/** Turns, and messages, that are shown without unfolding them. */
const UNFOLDED = 8;

/**
 * Links to the turns of a conversation, each with the first verdict of the table: in a comparison that of the newer run.
 * @param {{page: CasesPage, id: string, turns: [number, string][]}} props
 */
function Turns({ page, id, turns }) {
	const column = page.table.columns.filter((it) => it.kind === "verdict")[page.contents.sides ? 1 : 0];
	const asked = page.table.columns.find((it) => it.kind === "text");
	/** @param {[number, string]} turn */
	const link = ([number, turn]) => {
		const row = page.rowOf.get(turn) ?? -1;
		const cell = column?.cells[row] ?? null;
		return html`<li key=${turn} value=${number}>
			<a href=${page.linkTo(turn)} aria-current=${turn === id ? "true" : undefined}><bdi>${oneLine(shownOf(asked?.cells[row] ?? turn))}</bdi></a>${" "}
			${column && html`<span class=${verdictClass(column, cell)}>${oneLine(shownOf(cell))}</span>`}
		</li>`;
	};
	return html`<details open=${turns.length <= UNFOLDED}>
		<summary>${turns.length} turns of this conversation${column && html`, by <bdi>${oneLine(column.title)}</bdi>`}</summary>
		<ol class="turns">${turns.map(link)}</ol>
	</details>`;
}

/** What was said before the question: once if all runs were told the same. @param {{runs: Run[]}} props */
function Said({ runs }) {
	const told = runs.filter((run) => run.said);
	const texts = told.map((run) => JSON.stringify(run.said));
	const distinct = told.filter((_, i) => texts.indexOf(texts[i]) === i);
	return distinct.map(({ said = [], side = "" }) => {
		const folded = said.slice(0, -UNFOLDED);
		return html`<section key=${side}>
			<h3>said before${distinct.length > 1 && `, ${side}`}</h3>
			${folded.length > 0 && html`<details><summary>${folded.length} earlier messages</summary><${Messages} messages=${folded} /></details>`}
			<${Messages} messages=${said.slice(-UNFOLDED)} />
		</section>`;
	});
}

/** @param {{messages: [string, string][]}} props */
function Messages({ messages }) {
	return html`<ol class="messages">
		${messages.map(([speaker, text], i) => html`<li key=${i} class=${speaker.toLowerCase()}><p class="muted">${oneLine(speaker)}</p><${LongText} text=${text} /></li>`)}
	</ol>`;
}

/** The name of a run among those of its case. Both sides of a comparison share it. @param {Run} run */
function nameOfRun(run) {
	if (run.system === undefined) return `Repetition ${run.repeat}`;
	return run.repeat > 1 ? `${run.system}, repetition ${run.repeat}` : run.system;
}

/** Tabs of systems and repetitions. @param {{names: string[], chosen: string, choose: (name: string) => void, children?: unknown}} props */
function Tabs({ names, chosen, choose, children }) {
	/** @param {KeyboardEvent} event */
	const onKeyDown = (event) => {
		const place = names.indexOf(chosen);
		const next = { ArrowRight: (place + 1) % names.length, ArrowLeft: (place || names.length) - 1, Home: 0, End: names.length - 1 }[event.key];
		if (next === undefined) return;
		event.preventDefault();
		choose(names[next]);
		document.getElementById(`tab-${next}`)?.focus();
	};
	return html`<div role="tablist" aria-label="Runs of the case" onKeyDown=${onKeyDown}>
			${names.map(
				(name, i) => html`<button type="button" role="tab" key=${name} id="tab-${i}" aria-controls="tab-panel" aria-selected=${String(name === chosen)} tabindex=${name === chosen ? 0 : -1} onClick=${() => choose(name)}>
					<bdi>${oneLine(name)}</bdi>
				</button>`,
			)}
		</div>
		<div role="tabpanel" id="tab-panel" aria-labelledby="tab-${names.indexOf(chosen)}">${children}</div>`;
}

/** @param {Field[]} fields @param {Field["role"]} role */
function textOf(fields, role) {
	return fields.find((field) => field.role === role);
}

/**
 * One run: the answer against the reference, then what the evaluators and the search returned.
 * @param {{page: CasesPage, case: Case, run: Run, hasOutcomes: boolean}} props
 */
function SingleRun({ page, case: it, run, hasOutcomes }) {
	const [reference, answer] = [textOf(it.fields, "reference"), textOf(run.fields, "answer")];
	const outcome = run.outcomes.find((it) => it.kind !== "undefined");
	const verdict = outcome && hasOutcomes && html`<section class="verdict"><h3>verdict: <bdi>${oneLine(outcome.name)}</bdi></h3><${OutcomeValue} outcome=${outcome} /></section>`;
	return html`
		<${Failure} run=${run} />
		${reference && answer
			? html`<${ComparedTexts} before=${reference} after=${answer} names=${[reference.name, answer.name]} verdict=${verdict} />`
			: html`<div class="lead"><${Fields} fields=${[reference, answer].filter((field) => field)} />${(reference || answer) && verdict}</div>`}
		<${Facts} fields=${run.fields.filter((field) => field !== answer)} />
		${hasOutcomes && html`<${Outcomes} sides=${[{ name: "value and reason", outcomes: verdict && (reference || answer) ? run.outcomes.filter((it) => it !== outcome) : run.outcomes }]} />`}
		<${Ranking} page=${page} run=${run} answer=${answer ?? reference} />
		<${Timings} timings=${run.timings} />
		<${Steps} steps=${run.steps} />
	`;
}

/** Both sides of a comparison beside each other. @param {{page: CasesPage, case: Case, before?: Run, after?: Run}} props */
function Comparison({ page, case: it, before, after }) {
	const answers = [before, after].map((run) => run && textOf(run.fields, "answer"));
	const sides = [
		{ name: "Before", title: page.contents.sides?.before ?? "", run: before, other: after },
		{ name: "After", title: page.contents.sides?.after ?? "", run: after, other: before },
	];
	/** @param {(side: {run: Run, other?: Run}) => unknown} part */
	const both = (part) =>
		html`<div class="sides">
			${sides.map((side) => html`<div key=${side.name}>${side.run ? part({ run: side.run, other: side.other }) : html`<p class="muted">This side has no such run.</p>`}</div>`)}
		</div>`;
	return html`
		<${Fields} fields=${it.fields.filter((field) => field.role === "reference")} />
		<div class="sides heads">
			${sides.map((side) => html`<p key=${side.name}><strong>${side.name}</strong> <span class="muted"><bdi>${visible(side.title)}</bdi></span></p>`)}
		</div>
		${both(({ run }) => html`<${Failure} run=${run} />`)}
		${answers[0] && answers[1]
			? html`<${ComparedTexts} before=${answers[0]} after=${answers[1]} names=${[`${answers[0].name} before`, `${answers[1].name} after`]} />`
			: both(({ run }) => html`<${Fields} fields=${run.fields.filter((field) => field.role === "answer")} />`)}
		${both(({ run }) => html`<${Facts} fields=${run.fields.filter((field) => field.role !== "answer")} />`)}
		<${Outcomes} sides=${sides.map((side) => ({ name: side.name.toLowerCase(), outcomes: side.run?.outcomes ?? [] }))} />
		${both(({ run, other }) => html`<${Ranking} page=${page} run=${run} other=${other} answer=${textOf(run.fields, "answer")} />`)}
		${both(({ run }) => html`<${Timings} timings=${run.timings} /><${Steps} steps=${run.steps} />`)}
	`;
}

/** @param {{run: Run}} props */
function Failure({ run }) {
	return run.failure !== undefined && html`<div class="problem"><p>The task failed:</p><${LongText} text=${run.failure} /></div>`;
}

/**
 * Two texts beside each other, with the words marked in which they differ.
 * @param {{before: Field, after: Field, names: string[], verdict?: unknown}} props
 */
function ComparedTexts({ before, after, names, verdict }) {
	const [left, right] = names.map(oneLine);
	const found = preactHooks.useMemo(() => difference(before.text, after.text), [before.text, after.text]);
	const differs = [...found.before, ...found.after].some((part) => part.mark);
	return html`<div class=${verdict ? "lead" : "sides"}>
			<section><h3><bdi>${left}</bdi></h3><${LongText} parts=${found.before} /></section>
			<section><h3><bdi>${right}</bdi></h3><${LongText} parts=${found.after} /></section>
			${verdict}
		</div>
		<p class="muted">
			${differs ? html`Words of one side only are marked: <del>${left}</del>, <ins>${right}</ins>. ${found.note}` : "Both have the same words."}
		</p>`;
}

/** @param {{fields: Field[]}} props */
function Fields({ fields }) {
	return fields.map((field) => html`<section key=${field.name}><h3><bdi>${oneLine(field.name)}</bdi></h3><${LongText} text=${field.text} name=${field.role} /></section>`);
}

/** Texts that are neither question nor answer. @param {{fields: Field[]}} props */
function Facts({ fields }) {
	if (fields.length === 0) return null;
	return html`<dl class="facts">
		${fields.map((field) => html`<div key=${field.name}><dt><bdi>${oneLine(field.name)}</bdi></dt><dd><${LongText} text=${field.text} /></dd></div>`)}
	</dl>`;
}
