// Questions to the person: the initial values of a form, and the answers as data and as words.

import { coded, t, words } from "./texts.js";

// The questions of an event, as the page shows them; a code belongs to the intro, or to the only question.
export const askedBy = ({ questions, intro, ...said }) => ({
  intro: coded(said, intro, "-intro"),
  questions: questions.map((question) => ({
    ...question,
    label: coded(said, question.question),
    why: coded(said, question.why, "-why"),
  })),
});

export const choicesOf = ({ answer, options }) =>
  ({ choice: options, yes_no: ["yes", "no"] })[answer] ?? [];

export const initialValues = (questions) =>
  Object.fromEntries(questions.map(({ id, default: suggested }) => [id, suggested ?? ""]));

export const answersOf = (questions, values) =>
  Object.fromEntries(questions.map(({ id }) => [id, values[id].trim()]));

export const isComplete = (questions, values) =>
  questions.every(({ id }) => values[id].trim() !== "");

// The same words as `said` in src/selfeng/core/question.py.
export const wordsOf = (questions, values) =>
  questions.map(({ id, question }) => `${question} ${values[id].trim()}`).join("\n");

// A value for people: yes, no and consents are in the page's language.
export const valueWords = ({ id, answer }, value) =>
  answer === "yes_no"
    ? t(`questions-${value}`)
    : id === "schedule" || id?.startsWith("allow_")
      ? words(`consents-${value}`, value)
      : value;

// The person's words with a turn. Answers continue the turn that asked; its request is not theirs again.
export function saidWith({ request, answers }, before) {
  const asked = before?.outcome === "asked" ? before.questions.questions : [];
  const pairs = asked
    .map((question) => [question, answers.find(({ id }) => id === question.id)])
    .filter(([, answer]) => answer);
  const words = pairs.map(([{ question }, { value }]) => `${question} ${value}`).join("\n");
  if (pairs.length === 0 || ![before.request, words].includes(request)) return request;
  return pairs.map(([question, { value }]) => valueWords(question, value)).join(" · ");
}
