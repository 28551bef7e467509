// @ts-check
// One stream of events for each visible page. A browser opens six connections to a server at most, so a hidden
// page keeps no stream open.
"use strict";

/**
 * Follows a stream while the page is visible.
 * @param {string} address
 * @param {Record<string, (event: MessageEvent, stream: EventSource) => void>} listeners by the name of the event
 */
function followWhileVisible(address, listeners) {
  /** @type {EventSource | null} */
  let stream = null;

  function follow() {
    if (document.hidden) {
      stream?.close();
      stream = null;
      return;
    }
    if (stream) return;
    const opened = new EventSource(address);
    for (const [name, listener] of Object.entries(listeners)) {
      opened.addEventListener(name, (event) => listener(/** @type {MessageEvent} */ (event), opened));
    }
    stream = opened;
  }

  document.addEventListener("visibilitychange", follow);
  follow();
}
