// @ts-check
// An element with a text, which is never read as markup.
"use strict";

/**
 * @param {string} tag
 * @param {string} text
 * @param {string} [className]
 */
function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/**
 * A message as nodes: what stands between backticks becomes an element `code`, as in the pages that the server writes.
 * @param {string} text
 * @returns {Node[]}
 */
function prose(text) {
  // What a group of the pattern matches has an odd place.
  return text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? element("code", part) : document.createTextNode(part)));
}
