// Words and numbers for people.

import { locale, t, words } from "./texts.js";

export const agentWords = (name) => words(`agent-${name}`, name);

// The current activity of a turn, by its running step, and the progress of the part that it waits for.
export function nowWords(step, unready = []) {
  if (step?.kind !== "waiting")
    return step?.kind === "queued"
      ? step.text
      : [words(`now-${step?.kind}`, t("now-other")), step?.progress].filter(Boolean).join(": ");
  const one = unready.find(({ part }) => part === step.part);
  return `${one ? progressWords(one) : partWords(step.part)}: ${step.text}`;
}

export const stepWords = (kind) => words(`step-${kind}`, kind);

export const stateWords = (state) => words(`state-${state}`, "");

// The server's message as a sentence: it begins in upper case if it begins with a word, and ends.
export const sentence = (text) =>
  text &&
  text
    .trimEnd()
    .replace(/^\p{Ll}(?=[\p{L}'’-]*(?:[\s,:;]|\.?$|\.\s))/u, upper)
    .replace(/[^.!?…:]$/u, "$&.");

const upper = (letter) => letter.toUpperCase();

export const standingChange = (tool, after) =>
  `${t(`told-standing-${after}`, { tool })} ${t(`standing-title-${after}`)}`;

// The parts that a start sets up.
export const partWords = (part) => words(`part-${part}`, part);

// How far the set-up of one is.
export const progressWords = ({ part, done, total }) =>
  total > 0 ? t(`progress-${part}`, { done, total }) : partWords(part);

export const backendWords = (backend) => words(`backend-${backend}`, t("backend-other"));

const whole = new Intl.NumberFormat(locale);

export const number = (value) => whole.format(value);

const tenths = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

export function duration(seconds) {
  if (seconds == null) return "";
  if (seconds < 0.0005) return "<1 ms";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${tenths.format(seconds)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  const rest = Math.round(seconds) % 60;
  return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
}

// Time that still passes: in whole seconds, since anything faster would flicker, and draw the page all the time.
export function elapsed(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

export function fileSize(bytes) {
  if (bytes < 1024) return `${number(bytes)} B`;
  if (bytes < 10240) return `${tenths.format(bytes / 1024)} KB`;
  if (bytes < 1024 * 1000) return `${whole.format(Math.round(bytes / 1024))} KB`;
  return `${number(Number((bytes / 1048576).toFixed(1)))} MB`;
}

const share = new Intl.NumberFormat(locale, { style: "percent" });

export const percent = (value) => share.format(value);

export function usageText(usage) {
  if (!usage || usage.calls === 0) return "";
  const count = usage.input_tokens + usage.output_tokens;
  const tokens = count > 0 && t("usage-tokens", { count }); // the offline model uses none
  return [t("usage-calls", { count: usage.calls }), tokens, costText(usage.cost)]
    .filter(Boolean)
    .join(" · ");
}

const SHOWN = 0.5; // of a limit; before that it says nothing

// The spending of a turn next to the limits that it comes near to, in words, and the share of the
// nearest; "" if it is far from all.
export function budgetOf({ usage, limits, seconds }) {
  const tokens = usage.input_tokens + usage.output_tokens;
  const cost = usage.cost ?? 0;
  const near = [
    [usage.calls, limits.calls, t("budget-calls", { spent: usage.calls, limit: limits.calls })],
    [tokens, limits.tokens, t("budget-tokens", { spent: tokens, limit: limits.tokens })],
    [seconds, limits.seconds, t("budget-seconds", { limit: limits.seconds })],
    [
      cost,
      limits.cost,
      t("budget-cost", { spent: dollars(cost), limit: dollars(limits.cost ?? 0, 0) }),
    ],
  ]
    .filter(([, limit]) => limit != null)
    .map(([spent, limit, words]) => ({ words, share: limit > 0 ? Math.min(1, spent / limit) : 1 }))
    .filter(({ share }) => share >= SHOWN);
  return {
    words: near.map(({ words }) => words).join(" · "),
    share: Math.max(0, ...near.map(({ share }) => share)),
  };
}

export const dollars = (value, digits = 4) =>
  new Intl.NumberFormat(locale, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: 4,
  }).format(value);

// US dollars; empty if the price is unknown or zero.
export function costText(cost) {
  if (!cost) return "";
  return cost < 0.0001 ? `<${dollars(0.0001)}` : dollars(cost);
}

// A date or moment of the server's; "" for what is none.
const written = (style) => {
  const format = new Intl.DateTimeFormat(locale, style);
  return (text) => {
    const parsed = new Date(text);
    return Number.isNaN(parsed.valueOf()) ? "" : format.format(parsed);
  };
};

export const date = written({ dateStyle: "medium" });
// Of a month such as 2026-11.
export const monthName = written({ month: "long", year: "numeric", timeZone: "UTC" });
export const moment = written({ dateStyle: "medium", timeStyle: "short" });

// Names, words and parts of a sentence, as the language joins them.
export const list = (parts) => new Intl.ListFormat(locale).format(parts);

const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });

// How long ago a moment was, in its largest unit.
export function ago(text, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(text)) / 1000);
  if (Number.isNaN(seconds)) return "";
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["second", Infinity]; // now
  return relative.format(-Math.floor(seconds / size), unit);
}

// A sentence in pieces, {code, words} each: code stood between backticks. A backtick without a second one stays.
export const proseParts = (text) =>
  String(text)
    .split(/`([^`\n]+)`/)
    .map((words, i) => ({ code: i % 2 === 1, words }))
    .filter(({ words }) => words);

export function firstLine(text) {
  return text.trim().split("\n", 1)[0];
}
