// The parts of views: templates, icons, words, and the store.

export { html, memo } from "./html.js";
export { Icon, Spinner, StateIcon, stepIcon } from "./icons.js";
export { dispatch, openTool, show, store } from "./store.js";
export { rich, t, words } from "./texts.js";
