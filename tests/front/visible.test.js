import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { visible } from "../../web/static/js/visible.js";

const cases = JSON.parse(readFileSync(new URL("../visible.json", import.meta.url)));

for (const [what, text, shown] of cases) {
  test(`${what} in the page as in a terminal`, () => assert.equal(visible(text), shown));
}
