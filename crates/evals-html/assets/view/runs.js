// @ts-check
// The list of runs: it says what is missing to compare, and shows changes of the list while it is visible.
"use strict";

(() => {
  const form = document.getElementById("pick");
  if (!(form instanceof HTMLFormElement)) return;
  const button = form.querySelector("button");
  const hint = document.getElementById("hint");
  const loaded = chosen().join("\n");

  /** @returns {string[]} the names of the chosen runs, before and after */
  function chosen() {
    const values = new FormData(/** @type {HTMLFormElement} */ (form));
    return ["before", "after"].map((side) => String(values.get(side) ?? ""));
  }

  function check() {
    const [before, after] = chosen();
    const missing = !before || !after ? "choose a run before and a run after" : before === after ? "choose two different runs" : "";
    if (button) button.disabled = missing !== "";
    if (hint) hint.textContent = missing;
  }

  form.addEventListener("change", check);
  check();
  followWhileVisible(form.dataset.changes ?? "", {
    changed: (_, stream) => {
      stream.close();
      // Who has chosen runs keeps them; the list waits.
      if (chosen().join("\n") === loaded) location.reload();
      else if (hint) hint.textContent = "The list has changed. Reload the page to see it.";
    },
  });
})();
