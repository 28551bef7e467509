// The state of the page as the fragment of its address, so that a link shows the same.

/** @typedef {{key: string, isDescending: boolean}} Sort */
/**
 * @typedef {object} View
 * @property {string | null} open The id of the open case.
 * @property {string} query
 * @property {Sort | null} sort `null` is the order of the file.
 * @property {Map<string, string[]>} filters For each column, what it may be: one of these.
 */

/** @returns {View} */
function emptyView() {
	return { open: null, query: "", sort: null, filters: new Map() };
}

/**
 * Reads a fragment; `null` if it is none of ours, such as the anchor of a figure. Unknown pairs are left alone.
 * @param {string} fragment
 * @returns {View | null}
 */
function readFragment(fragment) {
	const text = fragment.replace(/^#/, "");
	if (text !== "" && !text.includes("=")) return null;
	const view = emptyView();
	for (const pair of text.split("&")) {
		const [name, ...rest] = pair.split("=");
		const value = decoded(rest.join("="));
		const key = decoded(name);
		if (key === "case") view.open = value;
		else if (key === "q") view.query = value;
		else if (key === "sort") view.sort = { key: value.replace(/^-/, ""), isDescending: value.startsWith("-") };
		else if (key.startsWith("f.")) {
			const column = key.slice(2);
			view.filters.set(column, [...(view.filters.get(column) ?? []), value]);
		}
	}
	return view;
}

/** @param {View} view @returns {string} with its `#` */
function writeFragment(view) {
	const pairs = [];
	for (const [key, values] of view.filters) {
		for (const value of values) pairs.push(`f.${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
	}
	if (view.query !== "") pairs.push(`q=${encodeURIComponent(view.query)}`);
	if (view.sort) pairs.push(`sort=${view.sort.isDescending ? "-" : ""}${encodeURIComponent(view.sort.key)}`);
	if (view.open !== null) pairs.push(`case=${encodeURIComponent(view.open)}`);
	return `#${pairs.join("&")}`;
}

/** @param {string} text */
function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
