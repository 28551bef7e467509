// The choice between the light and the dark page.

/** Where browsers keep the choice, if they let a page do so. */
const THEME = "evaluations-theme";

/** @param {string} theme `light`, `dark`, or empty for what the system prefers */
function setTheme(theme) {
	if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
	else delete document.documentElement.dataset.theme;
}

/** @returns {string} what `setTheme` takes */
function storedTheme() {
	try {
		const theme = localStorage.getItem(THEME);
		return theme === "light" || theme === "dark" ? theme : "";
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

/** The choice, for any place of a page. */
function themeChoice() {
	const list = document.createElement("select");
	list.add(new Option("as the system", ""));
	for (const theme of ["light", "dark"]) list.add(new Option(theme));
	list.value = storedTheme();
	list.addEventListener("change", () => {
		storeTheme(list.value);
		setTheme(list.value);
	});
	const label = document.createElement("label");
	label.className = "theme";
	label.append("Theme ", list);
	return label;
}

/** Puts the choice at the beginning of the page. */
function showThemeChoice() {
	setTheme(storedTheme());
	const place = document.createElement("div");
	place.className = "tools";
	place.append(themeChoice());
	(document.getElementById("top") ?? document.body).prepend(place);
}
