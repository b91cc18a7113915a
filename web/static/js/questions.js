// Questions to the person: the initial values of a form, and the answers as data and as words.

export const choicesOf = ({ answer, options }) =>
  ({ choice: options, yes_no: ["yes", "no"] })[answer] ?? [];

export const initialValues = (questions) =>
  Object.fromEntries(questions.map(({ id, default: suggested }) => [id, suggested ?? ""]));

export const answersOf = (questions, values) =>
  questions.map(({ id }) => ({ id, value: values[id].trim() }));

export const isComplete = (questions, values) =>
  questions.every(({ id }) => values[id].trim() !== "");

// The same words as `said` in src/selfeng/core/question.py.
export const wordsOf = (questions, values) =>
  questions.map(({ id, question }) => `${question} ${values[id].trim()}`).join("\n");
