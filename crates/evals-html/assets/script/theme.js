// @ts-check
// The choice between the light and the dark page.

/** Where browsers keep the choice, if they let a page do so. */
const THEME = "evaluations-theme";

/** @param {string} theme `light`, `dark`, or empty for what the system prefers */
function setTheme(theme) {
	if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
	else delete document.documentElement.dataset.theme;
}

function storedTheme() {
	try {
		return localStorage.getItem(THEME) ?? "";
	} catch {
		return "";
	}
}

/** @param {string} theme */
function storeTheme(theme) {
	try {
		localStorage.setItem(THEME, theme);
	} catch {
		// The choice then holds for this page alone.
	}
}

function ThemeChoice() {
	const [theme, choose] = preactHooks.useState(storedTheme);
	preactHooks.useLayoutEffect(() => setTheme(theme), [theme]);
	/** @param {Event} event */
	const onChange = (event) => {
		const chosen = /** @type {HTMLSelectElement} */ (event.target).value;
		storeTheme(chosen);
		choose(chosen);
	};
	return html`<label class="theme">
		Theme${" "}
		<select value=${theme} onChange=${onChange}>
			<option value="">as the system</option>
			<option value="light">light</option>
			<option value="dark">dark</option>
		</select>
	</label>`;
}

/** Puts the choice at the beginning of the page. */
function showThemeChoice() {
	const place = document.createElement("div");
	place.className = "tools";
	(document.getElementById("top") ?? document.body).prepend(place);
	preact.render(html`<${ThemeChoice} />`, place);
}
