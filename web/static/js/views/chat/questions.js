// The questions that a turn ended with: a form, whose answers become the next request, and what was answered.

import { useState } from "preact/hooks";
import { ask } from "../../connection.js";
import {
  answersOf,
  choicesOf,
  initialValues,
  isComplete,
  valueWords,
  wordsOf,
} from "../../questions.js";
import { html, t } from "../../view.js";

export function Questions({ turnId, questions, intro }) {
  const [values, setValues] = useState(() => initialValues(questions));
  const send = (event) => {
    event.preventDefault();
    if (isComplete(questions, values))
      ask(wordsOf(questions, values), [], answersOf(questions, values));
  };
  const change = (id) => (event) => setValues({ ...values, [id]: event.target.value });
  return html`<form
    class="questions"
    data-testid="questions"
    aria-label=${t("questions")}
    onSubmit=${send}
  >
    ${intro && html`<p>${intro}</p>`}
    ${questions.map(
      (question) =>
        html`<${Field}
          key=${question.id}
          question=${question}
          name=${`${turnId}-${question.id}`}
          value=${values[question.id]}
          change=${change(question.id)}
        />`,
    )}
    <button type="submit" class="button primary" data-testid="send-answers">
      ${t("questions-answer")}
    </button>
  </form>`;
}

// Once the conversation has gone on: each question with its answer, if one was given.
export function Answered({ questions, answers }) {
  const given = (question) => (answers || []).find(({ id }) => id === question.id);
  return html`<dl class="answered" data-testid="answered" aria-label=${t("questions")}>
    ${questions.map(
      (question) =>
        html`<div key=${question.id}>
          <dt>${question.label}</dt>
          ${given(question) && html`<dd>${valueWords(question, given(question).value)}</dd>`}
        </div>`,
    )}
  </dl>`;
}

function Field({ question, name, value, change }) {
  const choices = choicesOf(question);
  const note =
    question.why && html`<span class="question-why" id=${`${name}-why`}>${question.why}</span>`;
  const described = question.why ? `${name}-why` : null;
  if (choices.length > 0) {
    return html`<fieldset
      class="question"
      data-question=${question.id}
      aria-describedby=${described}
    >
      <legend>${question.label}</legend>
      ${note}
      <div class="question-choices">
        ${choices.map(
          (choice) =>
            html`<label class="question-choice" key=${choice}
              ><input
                type="radio"
                name=${name}
                value=${choice}
                required
                checked=${value === choice}
                onChange=${change}
              />${valueWords(question, choice)}</label
            >`,
        )}
      </div>
    </fieldset>`;
  }
  const numeric = question.answer === "number";
  return html`<div class="question" data-question=${question.id}>
    <label for=${name}>${question.label}</label>
    ${note}
    <input
      id=${name}
      class="question-input"
      type=${numeric ? "number" : "text"}
      step="any"
      autocomplete="off"
      required
      aria-describedby=${described}
      value=${value}
      onInput=${change}
    />
  </div>`;
}
