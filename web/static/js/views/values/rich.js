// What is loaded with the first value or file that is shown.

export { FileContents } from "./file-contents.js";
export { Value } from "./value.js";
export { FileViewer } from "./viewer.js";
