// The tokens' promise that text reaches 4.5:1. A browser can't judge text over the gradients of code blocks and tables.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const css = readFileSync(new URL("../../web/static/css/tokens.css", import.meta.url), "utf8");
const pairs = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];
const themes = { light: colours(2), dark: colours(3) };

function colours(group) {
  return Object.fromEntries(pairs.map((match) => [match[1], match[group]]));
}

// WCAG 2.1, relative luminance and contrast ratio.
function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const share = parseInt(colour.slice(i, i + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const CODE = ["code-keyword", "code-string", "code-number", "code-title", "code-comment"];
const STANDS_ON = {
  surface: ["ink", "ink-soft", "ink-faint", "accent", "good", "bad", "warn", ...CODE],
  sunken: ["ink", "ink-soft", "ink-faint", ...CODE],
  page: ["ink", "ink-soft", "ink-faint", "accent", "good", "bad", "warn"],
  hover: ["ink", "ink-soft", "ink-faint", "accent"],
  "good-wash": ["ink", "good"],
  "bad-wash": ["ink", "bad"],
  "warn-wash": ["ink", "warn"],
  "accent-wash": ["ink", "ink-soft", "accent"],
  accent: ["on-accent"],
};

test("black on white has the contrast of the standard", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
});

for (const [theme, tokens] of Object.entries(themes)) {
  test(`text reaches 4.5:1 on every surface of the ${theme} theme`, () => {
    const weak = Object.entries(STANDS_ON).flatMap(([ground, texts]) =>
      texts
        .filter((text) => !(contrast(tokens[text], tokens[ground]) >= 4.5))
        .map((text) => `${text} on ${ground}: ${contrast(tokens[text], tokens[ground])}`),
    );
    assert.deepEqual(weak, []);
  });
}
