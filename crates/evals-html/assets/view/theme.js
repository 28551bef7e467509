// @ts-check
// The theme of the viewer's own pages, which is that of the pages of runs. `setTheme`, `storedTheme` and `themeChoice` are defined in
// the file that the server puts in front of this one. Pages load it before they are painted.

setTheme(storedTheme());
document.addEventListener("DOMContentLoaded", () => document.querySelector("header nav")?.append(themeChoice()));
