// The parts of one run: outcomes, ranking, timings, steps.

const OUTCOME_SHAPES = { passed: "✓", failed: "✗", score: "", label: "", undefined: "–", error: "!" };

/**
 * What the evaluators returned: one column of values for each side, in the order in which the sides have them.
 * @param {{sides: {name: string, outcomes: Outcome[]}[]}} props
 */
function Outcomes({ sides }) {
	const all = sides.flatMap((side) => side.outcomes);
	const names = [...new Set(all.filter((it) => it.kind !== "undefined").map((it) => it.name))];
	const undefinedOnes = all.filter((it, i) => !names.includes(it.name) && all.findIndex((other) => other.name === it.name) === i);
	if (all.length === 0) return null;
	return html`<section>
		<h3>Outcomes</h3>
		${names.length > 0 && html`<table class="outcomes">
			<thead>
				<tr><th scope="col">evaluator</th>${sides.map((side) => html`<th scope="col" key=${side.name}>${side.name}</th>`)}</tr>
			</thead>
			<tbody>
				${names.map((name) => {
					const outcomes = sides.map((side) => side.outcomes.find((it) => it.name === name));
					const differs = outcomes.some((it) => it?.shown !== outcomes[0]?.shown);
					return html`<tr key=${name} class=${differs ? "differs" : ""}>
						<th scope="row"><bdi>${oneLine(name)}</bdi>${differs && html`<span class="muted"> differs</span>`}</th>
						${outcomes.map((it, i) => html`<td key=${i}>${it && html`<${OutcomeValue} outcome=${it} />`}</td>`)}
					</tr>`;
				})}
			</tbody>
		</table>`}
		${undefinedOnes.length > 0 &&
		html`<details>
			<summary class="muted">Undefined here: ${undefinedOnes.length}</summary>
			<dl class="facts">
				${undefinedOnes.map((it) => html`<div key=${it.name}><dt><bdi>${oneLine(it.name)}</bdi></dt><dd><${LongText} text=${it.reason ?? "undefined"} /></dd></div>`)}
			</dl>
		</details>`}
	</section>`;
}

/** @param {{outcome: Outcome}} props */
function OutcomeValue({ outcome: it }) {
	return html`<p class="value ${it.kind}"><span aria-hidden="true">${OUTCOME_SHAPES[it.kind]} </span><bdi>${oneLine(it.shown)}</bdi></p>
		${it.reason !== undefined && html`<${LongText} text=${it.reason} name="reason" />`}`;
}

/** @type {Record<Mark, string>} */
const MARK_SHAPES = { relevant: "✓", shown: "◉", cited: "❞" };

/**
 * The documents found. In a comparison each says where it was on the other side.
 * @param {{page: CasesPage, run: Run, other?: Run, answer?: Field}} props
 */
function Ranking({ page, run, other, answer }) {
	const ranking = run.ranking;
	if (!ranking) return null;
	const ranks = other?.ranking && new Map(other.ranking.map((it, i) => [it.document, i + 1]));
	return html`<section>
		<h3>Ranking</h3>
		${ranking.length === 0 && html`<p class="muted">Nothing was found.</p>`}
		<ol class="ranking">
			${ranking.map((it, i) => html`<${RankedDocument} key=${i} page=${page} ranked=${it} rank=${i + 1} answer=${answer?.text ?? ""} move=${ranks && run.side && moveInWords(run.side, i + 1, ranks.get(it.document))} />`)}
		</ol>
		${run.missed && run.missed.length > 0 &&
		html`<p class="missed">
			<strong>Relevant, not found:</strong>
			${run.missed.map((id) => html`${" "}<bdi key=${id}>${oneLine(id)}</bdi>`)}
		</p>`}
	</section>`;
}

/**
 * The rank of a document on the other side.
 * @param {Side} side
 * @param {number} rank
 * @param {number | undefined} otherRank
 */
function moveInWords(side, rank, otherRank) {
	if (otherRank === undefined) return side === "after" ? "new" : "gone";
	if (side === "before") return otherRank === rank ? "same rank" : `→ rank ${otherRank}`;
	const steps = otherRank - rank;
	if (steps === 0) return "same rank";
	return steps > 0 ? `▲ up ${steps}` : `▼ down ${-steps}`;
}

/** @param {{page: CasesPage, ranked: Ranked, rank: number, answer: string, move?: string}} props */
function RankedDocument({ page, ranked, rank, answer, move }) {
	const passages = ranked.passages ?? [];
	const marks = ranked.marks ?? [];
	const line = html`<span class="rank">${rank}</span>
		<bdi class="document">${oneLine(ranked.document)}</bdi>
		${ranked.score && html`<span class="score">${oneLine(ranked.score)}</span>`}
		${marks.map((mark) => html`<span key=${mark} class="mark ${mark}"><span aria-hidden="true">${MARK_SHAPES[mark]} </span>${mark}${mark === "relevant" && ranked.grade !== undefined ? ` (grade ${oneLine(ranked.grade)})` : ""}</span>`)}
		${ranked.grade !== undefined && !marks.includes("relevant") && html`<span class="mark">judged, grade ${oneLine(ranked.grade)}</span>`}
		${move && html`<span class="move">${move}</span>`}`;
	if (passages.length === 0) return html`<li class=${marks.join(" ")}><div class="line">${line}</div></li>`;
	return html`<li class=${marks.join(" ")}><${Passages} page=${page} numbers=${passages} line=${line} answer=${answer} isCited=${marks.includes("cited")} /></li>`;
}

/**
 * The passages of a document, open at first if the answer cites it; their title is visible all the time.
 * @param {{page: CasesPage, numbers: (number | null)[], line: unknown, answer: string, isCited: boolean}} props
 */
function Passages({ page, numbers, line, answer, isCited }) {
	const [passages, setPassages] = preactHooks.useState(/** @type {Passage[]} */ ([]));
	const [problem, setProblem] = preactHooks.useState("");
	const [isOpen, setOpen] = preactHooks.useState(isCited);
	preactHooks.useEffect(() => {
		let isWanted = true;
		const present = numbers.filter((it) => it !== null);
		Promise.all(present.map((it) => page.passages.entry(it))).then(
			(found) => isWanted && setPassages(found),
			(error) => isWanted && setProblem(error.message),
		);
		return () => {
			isWanted = false;
		};
	}, [numbers]);
	const hasTitle = passages.some((it) => it.title);
	const title = passages.find((it) => it.title)?.title ?? passages[0]?.text ?? "";
	const leftOut = numbers.filter((it) => it === null).length;
	return html`<details open=${isOpen} onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
		<summary><span class="line">${line}</span><span class="title ${hasTitle ? "" : "opening"}" dir="auto">${oneLine(title)}</span></summary>
		${isOpen && passages.map((it, i) => html`<div class="passage" key=${i}>${it.title && it.title !== title && html`<p class="name"><bdi>${oneLine(it.title)}</bdi></p>`}<${LongText} parts=${evidence(it.text, answer)} /></div>`)}
		${isOpen && leftOut > 0 && html`<p class="muted">${leftOut === 1 ? "One passage is" : `${leftOut} passages are`} left out, because the file would have become too large.</p>`}
		${problem && html`<p class="problem">${problem}</p>`}
	</details>`;
}

/** @param {{timings?: Timing[]}} props */
function Timings({ timings = [] }) {
	if (timings.length === 0) return null;
	return html`<section>
		<h3>Service time</h3>
		<table class="timings">
			<tbody>
				${timings.map((it) => html`<tr key=${it.stage}><th scope="row">${oneLine(it.stage)}</th><td class="seconds">${oneLine(it.shown)}</td><td class="muted">${it.cached ? "from the cache" : ""}</td></tr>`)}
			</tbody>
		</table>
	</section>`;
}

/** @param {{steps?: Step[]}} props */
function Steps({ steps = [] }) {
	return steps.length > 0 && html`<section><h3>Steps</h3><${StepList} steps=${steps} /></section>`;
}

/** @param {{steps: Step[]}} props */
function StepList({ steps }) {
	return html`<ul class="steps">
		${steps.map(
			(step, i) => html`<li key=${i}>
				<div class="line">
					<bdi>${oneLine(step.name)}</bdi>
					${step.shown && html`<span class="score">${oneLine(step.shown)}</span>`}
					${step.failed && html`<span class="value failed"><span aria-hidden="true">✗ </span>failed</span>`}
				</div>
				${step.facts && html`<dl class="facts">${step.facts.map(([name, value]) => html`<div key=${name}><dt><bdi>${oneLine(name)}</bdi></dt><dd><${LongText} text=${value} /></dd></div>`)}</dl>`}
				${step.children && html`<${StepList} steps=${step.children} />`}
			</li>`,
		)}
	</ul>`;
}
