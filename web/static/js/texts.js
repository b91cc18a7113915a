// The page's words, from the catalogue of its language: web/static/locales/*.ftl, in Fluent's format.

import { FluentBundle, FluentResource } from "@fluent/bundle";
import catalogue from "#texts"; // of the language that the server chose

export const language = globalThis.document?.documentElement?.lang || "en";

// For dates, numbers and lists: as the browser's locale writes the page's language.
export const locale =
  globalThis.navigator?.languages?.find((one) => one.split("-")[0] === language) ?? language;

const bundle = new FluentBundle(locale, { useIsolating: false });
export const addTexts = (source) => bundle.addResource(new FluentResource(source));

addTexts(catalogue);

export const words = (id, otherwise = "", values) => (hasText(id) ? t(id, values) : otherwise);

const LATER = { secrets: "none", near: "none" }; // what events of earlier versions lack

// A text of the server: the sentence of its code, or the text itself where it has none.
export const coded = ({ code, values }, text = "", part = "") =>
  code ? words(`said-${code}${part}`, text, { ...LATER, ...values }) : text;

export const hasText = (id) => bundle.hasMessage(id);

// The words of a message: t("tests-passed", { passed: 3, total: 6 }). A message that is missing is its own name.
export function t(id, values) {
  const message = bundle.getMessage(id);
  if (!message?.value) return id;
  return bundle.formatPattern(message.value, values, []);
}

// A message with elements in it, as a list of children: rich("asked-by", { name: html`<code>…</code>` }).
export function rich(id, values) {
  const names = Object.keys(values);
  const marks = Object.fromEntries(names.map((name, i) => [name, `\uE000${i}\uE001`]));
  return t(id, marks)
    .split(/\uE000(\d+)\uE001/)
    .map((part, i) => (i % 2 ? values[names[part]] : part));
}
