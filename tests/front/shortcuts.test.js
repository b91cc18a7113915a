import assert from "node:assert/strict";
import test from "node:test";

import { commandOf, SHORTCUTS } from "../../web/static/js/shortcuts.js";

const pressed = (key, held = {}, where = {}) =>
  commandOf({ key, ...held }, { covered: false, writes: false, composes: false, ...where });
const inComposer = { writes: true, composes: true };
const inField = { writes: true };

test("keys that act everywhere do so in a field too", () => {
  for (const where of [{}, inComposer, inField]) {
    assert.equal(pressed("O", { ctrlKey: true, shiftKey: true }, where), "begin");
    assert.equal(pressed("/", { ctrlKey: true, shiftKey: true }, where), "list");
    assert.equal(pressed("/", { metaKey: true }, where), "list");
  }
});

test("a slash is text in a field, and Escape belongs to a field that is not the composer", () => {
  assert.deepEqual(
    [{}, inComposer, inField].map((where) => [
      pressed("/", {}, where),
      pressed("Escape", {}, where),
    ]),
    [
      ["focus", "stop"],
      [null, "stop"],
      [null, null],
    ],
  );
  assert.equal(pressed("/", { shiftKey: true }), "focus");
});

test("nothing acts behind an open dialog, while text is composed, by other keys, or again while held", () => {
  for (const key of ["/", "Escape"]) {
    assert.equal(pressed(key, {}, { covered: true }), null);
    assert.equal(pressed(key, { isComposing: true }), null);
    assert.equal(pressed(key, { repeat: true }), null);
    assert.equal(pressed(key, { altKey: true }), null);
  }
  for (const key of ["o", "a", "Enter", "?"]) assert.equal(pressed(key), null);
  assert.equal(pressed("o", { ctrlKey: true }), null);
});

test("each shortcut is listed once", () => {
  assert.equal(new Set(SHORTCUTS.map(({ keys }) => keys.join())).size, SHORTCUTS.length);
});
