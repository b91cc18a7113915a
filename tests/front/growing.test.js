import assert from "node:assert/strict";
import test from "node:test";

import { lexer } from "marked";
import { grow, NOTHING } from "../../web/static/js/growing.js";

const grown = (text, step = 1) => {
  let state = NOTHING;
  const states = [];
  for (let end = step; end < text.length + step; end += step) {
    state = grow(state, text.slice(0, end));
    states.push(state);
  }
  return states;
};

const TEXT = `# Title

A paragraph with *emphasis*
over two lines.

1. one
2. two

   still two

- a
- b

| x | y |
|---|---|
| 1 | 2 |

\`\`\`python
print(1)

# not a heading
\`\`\`

> quoted
more

Setext
======

The end.
`;

test("all of the text is there at any moment, in order", () => {
  for (const step of [1, 7])
    grown(TEXT, step).forEach(({ settled, blocks, rest }, i) => {
      assert.equal(settled + rest, TEXT.slice(0, Math.min((i + 1) * step, TEXT.length)));
      assert.equal(blocks.map(({ markdown }) => markdown).join(""), settled);
    });
});

test("a block that is settled is one that the whole text has", () => {
  const { blocks } = grown(TEXT).at(-1);
  const whole = lexer(TEXT).map(({ raw }) => raw);
  assert.ok(blocks.length > 10);
  assert.deepEqual(
    blocks.map(({ markdown }) => markdown),
    whole.slice(0, blocks.length),
  );
});

test("settled blocks stay the same objects, and the rest stays short", () => {
  const states = grown("Some words in a line.\n\n".repeat(200), 5);
  const [before, after] = states.slice(-2);
  assert.ok(before.blocks.every((block, i) => block === after.blocks[i]));
  assert.ok(states.every(({ rest }) => rest.length < 200));
});

test("nothing settles after markup that may be open, or a link's definition", () => {
  for (const start of ["<details>\n\n", "[a]: https://example.org\n\n"]) {
    const { settled } = grow(NOTHING, `${start}${"text [a]\n\n".repeat(50)}`);
    assert.equal(settled, "");
  }
});

test("another text begins anew", () => {
  const before = grown(TEXT).at(-1);
  assert.deepEqual(grow(before, "Else"), { settled: "", blocks: [], rest: "Else" });
});
