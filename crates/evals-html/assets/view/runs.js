// @ts-check
// The list of runs: it shows what is missing to compare, and while it is visible, that the list has changed.
"use strict";

(() => {
  const form = document.getElementById("pick");
  const news = document.getElementById("news");

  /** @param {HTMLFormElement} form */
  function check(form) {
    const chosen = new FormData(form).getAll("run").length;
    const missing = chosen === 2 ? "" : `choose two runs; ${chosen} ${chosen === 1 ? "is" : "are"} chosen`;
    const button = form.querySelector("button");
    if (button) button.disabled = missing !== "";
    const hint = document.getElementById("hint");
    if (hint) hint.textContent = missing;
  }

  if (form instanceof HTMLFormElement) {
    form.addEventListener("change", () => check(form));
    check(form);
  }
  if (!news) return;
  followWhileVisible(news.dataset.changes ?? "", {
    changed: (_, stream) => {
      stream.close();
      if (news.hasChildNodes()) return;
      // The reader decides when: a new page loses the focus, the place and the chosen runs.
      const link = document.createElement("a");
      link.href = location.pathname + location.search;
      link.textContent = "Reload the list";
      news.append("The list has changed. ", link);
    },
  });
})();
