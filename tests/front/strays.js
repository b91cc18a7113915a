// Words that a person would see and that stand in the code: every one belongs into the catalogue.

import { parsers } from "prettier/plugins/acorn";

// The attributes of an element that people see or hear, and the unread ones of a component.
const SHOWN =
  /^(title|placeholder|alt|label|aria-(label|description|placeholder|roledescription|valuetext))$/;
const TECHNICAL = new RegExp(
  "^(class|id|ref|key|type|role|name|for|icon|form|end|standing|testid|tone|state|kind|view|of|" +
    "value|language|closedby|popovertarget|aria-(haspopup|keyshortcuts)|data-[\\w-]+)$",
);
const isShown = (tag, name) => (tag.startsWith("\0") ? !TECHNICAL.test(name) : SHOWN.test(name));

// Names of keys as events have them.
const KEYS =
  /^(Enter|Escape|Tab|Home|End|Delete|Backspace|Shift|Ctrl|Control|Alt|Meta|Page(Up|Down)|Arrow(Up|Down|Left|Right))$/;

// A sentence, a name with a capital letter, or at least two words.
const isWords = (text) => !KEYS.test(text) && isSaid(text.replace(/<[^<>]*>/g, ""));
const isSaid = (text) => /\p{L}{2,} +\p{L}{2,}/u.test(text) || /^\s*\p{Lu}\p{Ll}+/u.test(text);

// Texts and attributes of an htm template; \0 stands for what is put in.
function* ofTemplate(source) {
  for (const [, tag] of source.matchAll(/<(?!\/)([^<>]*(?:"[^"]*"[^<>]*)*)>/g))
    for (const [, name, value] of tag.matchAll(/\s([@\w:-]+)="([^"]*)"/g))
      if (isShown(tag, name) && /\p{L}{2,}/u.test(value)) yield `${name}="${value}"`;
  for (const text of source.replace(/<[^<>]*(?:"[^"]*"[^<>]*)*>/g, "<>").split("<>"))
    if (/\p{L}/u.test(text)) yield text.trim();
}

// The children of a node, as [name of the property, node].
const parts = (node) =>
  Object.entries(node).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one && typeof one.type === "string")
      .map((one) => [name, one]),
  );

const callee = ({ callee }) =>
  callee?.object?.name === "console" ? "Error" : (callee?.name ?? callee?.property?.name);

// Not shown: names of messages, faults of the code itself, what the browser is asked, and what is compared.
const SILENT = new Set([
  "ImportDeclaration",
  "ImportExpression",
  "ExportNamedDeclaration.source",
  "BinaryExpression",
  "SwitchCase.test",
  "Property.key",
  "MemberExpression",
]);
const SILENT_CALLS = new RegExp(
  "^(t|rich|words|hasText|Error|querySelector(All)?|closest|matches|RegExp|DateTimeFormat|" +
    "NumberFormat|setAttribute|includes|startsWith|endsWith|has|get|on|emit|append|set)$",
);

function* inCode(node, parent, name) {
  if (SILENT.has(node.type) && node.type !== "ImportExpression") {
    if (node.type === "BinaryExpression" && node.operator === "+") yield* inside(node);
    return;
  }
  if (node.type === "CallExpression" && callee(node) === "plural") yield "plural()";
  if (SILENT.has(`${parent?.type}.${name}`)) return;
  if (/^(Call|New)Expression$/.test(node.type) && SILENT_CALLS.test(callee(node) ?? "")) {
    // The values of a message may still be words.
    for (const one of node.arguments) if (one.type === "ObjectExpression") yield* inside(one);
    return;
  }
  if (node.type === "TaggedTemplateExpression" && node.tag.name === "html") {
    const source = node.quasi.quasis.map((quasi) => quasi.value.cooked).join("\0");
    yield* ofTemplate(source.replace(/<!--[\s\S]*?-->/g, ""));
    // An expression in an attribute that nobody reads is as technical, unless it handles an event.
    let before = "";
    for (const [i, expression] of node.quasi.expressions.entries()) {
      before += node.quasi.quasis[i].value.cooked;
      const [, tag, name] = before.match(/<([^<>]*?)\s([@\w:-]+)="?[^"<>=]*$/) ?? [];
      if (!name || /^on[A-Z]/.test(name) || isShown(tag, name)) yield* inCode(expression);
      before += "\0";
    }
    return;
  }
  if (node.type === "Literal" && typeof node.value === "string" && isWords(node.value))
    yield node.value;
  if (node.type === "TemplateLiteral") {
    const text = node.quasis.map((quasi) => quasi.value.cooked).join("\0");
    if (isWords(text)) yield text;
  }
  yield* inside(node);
}

function* inside(node) {
  for (const [name, one] of parts(node)) yield* inCode(one, node, name);
}

export function strays(source) {
  return [...inside(parsers.acorn.parse(source, { filepath: "a.mjs" }))].map((text) =>
    text.replaceAll("\0", "…"),
  );
}
