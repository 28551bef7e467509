// Types for the type checker alone: what the vendored files define, as far as pages use it, and the parts of a page as its data
// holds them. The names of the latter are those of the types in `crates/evals-html/src/page`.

type Node_ = unknown;

interface Ref<T> {
	current: T;
}

declare const preact: {
	h(type: unknown, props: Record<string, unknown> | null, ...children: unknown[]): Node_;
	render(node: Node_, parent: Element): void;
	Fragment: unknown;
};

declare const preactHooks: {
	useState<T>(initial: T | (() => T)): [T, (next: T | ((old: T) => T)) => void];
	useEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
	useLayoutEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
	useRef<T>(initial: T): Ref<T>;
	useMemo<T>(make: () => T, inputs: unknown[]): T;
};

declare const htm: {
	bind(h: typeof preact.h): (strings: TemplateStringsArray, ...values: any[]) => Node_;
};

type Cell = [number, string] | string | { undefined: string } | null;
type ColumnKind = "text" | "number" | "seconds" | "verdict" | "label";

interface Column {
	key: string;
	title: string;
	kind: ColumnKind;
	higher_is_better?: boolean;
	is_visible: boolean;
	cells: Cell[];
}

interface Table {
	ids: string[];
	columns: Column[];
}

interface Field {
	name: string;
	text: string;
	role: "question" | "reference" | "answer" | "other";
}

interface Outcome {
	name: string;
	kind: "passed" | "failed" | "score" | "label" | "undefined" | "error";
	shown: string;
	reason?: string;
}

type Mark = "relevant" | "shown" | "cited";

interface Ranked {
	document: string;
	score?: string;
	marks?: Mark[];
	grade?: string;
	/** Numbers of passages; `null` for one that the page leaves out. */
	passages?: (number | null)[];
}

interface Passage {
	document: string;
	title?: string;
	text: string;
}

interface Timing {
	stage: string;
	seconds: number;
	shown: string;
	cached?: boolean;
}

interface Step {
	name: string;
	shown?: string;
	failed?: boolean;
	facts?: [string, string][];
	children?: Step[];
}

type Side = "before" | "after";

interface Run {
	side?: Side;
	system?: string;
	repeat: number;
	failure?: string;
	/** Who said it, and the text. */
	said?: [string, string][];
	fields: Field[];
	outcomes: Outcome[];
	ranking?: Ranked[];
	missed?: string[];
	timings?: Timing[];
	steps?: Step[];
}

interface Case {
	id: string;
	fields: Field[];
	/** Numbers of turns, and ids of their cases. */
	turns?: [number, string][];
	runs: Run[];
	remarks?: string[];
}

interface Contents {
	format: number;
	title: string;
	cases: number;
	passages: number;
	passages_left_out: number;
	texts: "kept" | "omitted";
	sides?: { before: string; after: string };
}
