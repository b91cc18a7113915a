import assert from "node:assert/strict";
import test from "node:test";

import { Marked } from "../../node_modules/marked/lib/marked.esm.js";
import { canRender, isShallow } from "../../web/static/js/bounds.js";

const rows = (count, line) => Array.from({ length: count }, (_, row) => line(row)).join("\n");
const NESTED = {
  "quotes in one line": ">".repeat(6000),
  "quotes with blanks": "> ".repeat(6000),
  "a quote more in each line": rows(300, (n) => `${">".repeat(n)} x`),
  "bullets in one line": `${"- ".repeat(5000)}x`,
  "numbers in one line": "1. ".repeat(5000),
  "quotes and bullets by turns": `${"> - ".repeat(3000)}x`,
  "a list deeper in each line": rows(300, (n) => `${"  ".repeat(n)}- x`),
  "emphasis never ended": "*a **b ".repeat(5000),
  "emphasis ended at last": `${"*a **b ".repeat(5000)}${"x** x*".repeat(5000)}`,
  "two kinds of emphasis": `${"_a *b ".repeat(2000)}${"c* d_ ".repeat(2000)}`,
  "emphasis over lines": "**a\n*b\n".repeat(3000),
  "struck out": `${"~~a ~b ".repeat(3000)}`,
  "emphasis within words": `${"a*b**c".repeat(4000)}`,
  "emphasis without blanks": `${"*_".repeat(5000)}x${"_*".repeat(5000)}`,
  "a table as wide as long": `${"|a".repeat(5000)}|\n${"|-".repeat(5000)}|\n${"|x\n".repeat(1000)}`,
  "a text without end": "x ".repeat(200_000),
};
const FLAT = {
  brackets: "[".repeat(50_000),
  links: "[a](".repeat(10_000),
  "brackets that are closed": `${"[".repeat(3000)}x${"](y)".repeat(3000)}`,
  pictures: "![".repeat(20_000),
  backticks: rows(300, (n) => "`".repeat(n)),
  "less than": "<".repeat(50_000),
  comments: "<!--".repeat(10_000),
  addresses: "http://a".repeat(6000),
  underlines: "_".repeat(50_000),
};
const marked = new Marked({ gfm: true });

for (const [name, text] of Object.entries(NESTED)) {
  test(`what nests or grows without end is not rendered: ${name}`, () =>
    assert.equal(canRender(text), false));
}

for (const [name, text] of Object.entries({ ...NESTED, ...FLAT })) {
  test(`no text keeps the page for long: ${name}`, () => {
    const began = performance.now();
    if (canRender(text)) isShallow(marked.parse(text));
    assert.ok(performance.now() - began < 3000);
  });
}

test("tags nested too deeply are seen in whatever markup they are", () => {
  for (const tag of ["b", "div", "details", "table"]) {
    assert.equal(isShallow(`<${tag} title="a">`.repeat(500)), false);
    assert.equal(isShallow(`<${tag}>x</${tag}>`.repeat(500)), true);
  }
  assert.equal(isShallow("<br>".repeat(5000)), true);
});

test("what people write is rendered", () => {
  const texts = [
    "",
    "> a quote\n>> of a quote\n\n- a list\n  - in a list\n    1. in a list",
    rows(300, (n) => `- **bold ${n}** and *not* \`code\``),
    rows(300, (n) => `snake_case_name_${n} * 2 ** 3 and a~b`),
    `| a | b |\n|---|---|\n${rows(500, (n) => `| ${n} | **${n}** |`)}`,
    `\`\`\`python\n${rows(500, (n) => `${" ".repeat(n % 80)}f(*args, **kwargs)  # - > *x`)}\n\`\`\``,
    rows(200, (n) => `${" ".repeat(4 * (n % 6))}* item ${n}`),
    "-".repeat(80),
    "5 * 3 * 2 = 30, **not** 31; `a | b` | c",
  ];
  for (const text of texts)
    assert.equal(canRender(text) && isShallow(marked.parse(text)), true, text.slice(0, 60));
});
