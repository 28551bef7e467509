// What all other scripts build on.

/** Cases in one block of the file, and passages in one. */
const BLOCK = 64;

/** Makes elements of templates. A text in a template becomes a text node, never markup. */
const html = htm.bind(preact.h);
