// What is loaded with the first dialog of settings or of links that is opened.

export { Settings } from "./settings.js";
export { Share } from "./share.js";
