// The page as far as stages.js reads it: import this before anything of the page that has words for stages.

import { readFileSync } from "node:fs";

const words = readFileSync(new URL("./stages.json", import.meta.url), "utf8");

globalThis.document = { getElementById: (id) => (id === "stages" ? { textContent: words } : null) };
