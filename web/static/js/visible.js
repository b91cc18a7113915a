// Text without invisible characters: those that would act on a screen, reorder it or hide are
// escaped, as in `\x1b` or `\u202e`.
// The same as src/selfeng/core/visible.py does for terminals, logs and prompts.

const ACTING = new RegExp(
  [
    "\\r\\n",
    "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f]", // controls, including the start of escape sequences
    "[\\u061c\\u202a-\\u202e\\u2066-\\u2069]", // directions
    // Invisible characters, including tags
    "[\\u180e\\u200b\\u2028\\u2029\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]",
    // Joiners, which emoji and some scripts need
    "(?:^|(?<=[\\0-\\x7f]))[\\u200c\\u200d]|[\\u200c\\u200d](?=[\\0-\\x7f])",
    "[\\ud800-\\udfff]",
  ].join("|"),
  "gu",
);

export const visible = (text) =>
  text.replace(ACTING, (found) => (found === "\r\n" ? "\n" : [...found].map(escape).join("")));

function escape(character) {
  const code = character.codePointAt(0);
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}
