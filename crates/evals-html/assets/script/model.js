// @ts-check
// The parts of a page as its data holds them. The names are those of the types in `crates/evals-html/src/page`.

/** @typedef {[number, string] | string | {undefined: string} | null} Cell */
/** @typedef {"text" | "number" | "seconds" | "verdict" | "label"} ColumnKind */
/** @typedef {{key: string, title: string, kind: ColumnKind, higher_is_better?: boolean, is_visible: boolean, cells: Cell[]}} Column */
/** @typedef {{ids: string[], columns: Column[]}} Table */

/** @typedef {{name: string, text: string, role: "question" | "reference" | "answer" | "other"}} Field */
/** @typedef {"passed" | "failed" | "score" | "label" | "undefined" | "error"} OutcomeKind */
/** @typedef {{name: string, kind: OutcomeKind, shown: string, reason?: string}} Outcome */
/** @typedef {"relevant" | "shown" | "cited"} Mark */
/** @typedef {{document: string, score?: string, marks?: Mark[], grade?: string, passages?: (number | null)[]}} Ranked */
/** @typedef {{document: string, title?: string, text: string}} Passage */
/** @typedef {{stage: string, seconds: number, shown: string, cached?: boolean}} Timing */
/** @typedef {{name: string, shown?: string, failed?: boolean, facts?: [string, string][], children?: Step[]}} Step */
/** @typedef {"before" | "after"} Side */
/**
 * @typedef {object} Run
 * @property {Side} [side]
 * @property {number} repeat
 * @property {string} [failure]
 * @property {Field[]} fields
 * @property {Outcome[]} outcomes
 * @property {Ranked[]} [ranking]
 * @property {string[]} [missed]
 * @property {Timing[]} [timings]
 * @property {Step[]} [steps]
 */
/** @typedef {{id: string, fields: Field[], runs: Run[], remarks?: string[]}} Case */
/**
 * @typedef {object} Contents
 * @property {number} format
 * @property {string} title
 * @property {number} cases
 * @property {number} passages
 * @property {number} passages_left_out
 * @property {"kept" | "omitted"} texts
 * @property {{before: string, after: string}} [sides]
 */

/** Cases in one block, and passages in one. */
const BLOCK = 64;

const html = htm.bind(preact.h);
