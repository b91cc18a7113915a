// Views that are loaded with the first value or file.

export { FileContents } from "./file-contents.js";
export { Value } from "./value.js";
export { FileViewer } from "./viewer.js";
