// The lessons of earlier turns: read, reworded and deleted.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { deleteLesson, patchLesson } from "../../api.js";
import { percent } from "../../format.js";
import { loadLessons } from "../../loading.js";
import { dispatch, html, memo, t, words } from "../../view.js";
import { Confirm } from "../parts/confirm.js";
import { Nothing, Region } from "../parts/controls.js";

const LONGEST = 400;

function Lesson({ lesson, removed }) {
  const [edits, setEdits] = useState(null);
  const edit = useRef(null);
  useLayoutEffect(() => {
    if (edits === false) edit.current.focus();
  }, [edits]);
  const remove = async () => (await changed(deleteLesson(lesson.id))) && removed();
  return html`<li
    class="lesson"
    data-testid="lesson"
    data-agent=${lesson.agent}
    data-expired=${lesson.expired}
  >
    <p class="lesson-head">
      <span class="attempt">${agentOf(lesson)}</span
      ><span class="lesson-facts">${facts(lesson)}</span>
    </p>
    ${
      edits
        ? html`<${Words} lesson=${lesson} close=${() => setEdits(false)} />`
        : html`<h3 class="lesson-trigger">${lesson.trigger}</h3>
            <p class="lesson-advice">${lesson.advice}</p>
            <div class="lesson-actions">
              <button
                class="button"
                ref=${edit}
                data-testid="edit-lesson"
                aria-label=${t("lesson-edit-of", { trigger: lesson.trigger })}
                onClick=${() => setEdits(true)}
              >
                ${t("lesson-edit")}
              </button>
              <${Confirm}
                testid="delete-lesson"
                label=${t("lesson-delete")}
                about=${lesson.trigger}
                question=${t("lesson-delete-question")}
                act=${remove}
              />
            </div>`
    }
  </li>`;
}

const agentOf = ({ agent }) => words(`lesson-for-${agent}`, agent);

const effect = ({ helped, failed }) =>
  helped + failed === 0 ? t("lesson-no-effect") : t("lesson-effect", { helped, failed });

function facts(lesson) {
  const { uses, weight, evidence, expired } = lesson;
  return [
    expired ? t("lesson-expired") : t("lesson-weight", { weight: percent(weight) }),
    ...(uses > 0 ? [t("tool-uses", { count: uses }), effect(lesson)] : [t("lesson-unused")]),
    t("lesson-evidence", { count: evidence }),
  ].join(" · ");
}

function Words({ lesson, close }) {
  const [words, setWords] = useState({ trigger: lesson.trigger, advice: lesson.advice });
  const first = useRef(null);
  useLayoutEffect(() => first.current.focus(), []);
  const save = async (event) => {
    event.preventDefault();
    if (await changed(patchLesson(lesson.id, words))) close();
  };
  const field = (name, label, ref) =>
    html`<label class="lesson-label"
      >${label}
      <textarea
        rows="3"
        maxlength=${LONGEST}
        required
        ref=${ref}
        data-testid=${`lesson-${name}`}
        value=${words[name]}
        onInput=${(e) => setWords({ ...words, [name]: e.target.value })}
      ></textarea>
    </label>`;
  return html`<form
    class="lesson-form"
    onSubmit=${save}
    onKeyDown=${(e) => e.key === "Escape" && close()}
  >
    ${field("trigger", t("lesson-trigger"), first)}${field("advice", t("lesson-advice"))}
    <div class="lesson-actions">
      <button type="submit" class="button primary" data-testid="save-lesson">
        ${t("lesson-save")}</button
      ><button class="button quiet" onClick=${close}>${t("confirm-cancel")}</button>
    </div>
  </form>`;
}

// Whether the server accepted the change; an error is shown at the top of the page.
async function changed(request) {
  try {
    await request;
    await loadLessons();
    return true;
  } catch (error) {
    const message = t("lesson-unchanged", { error: error.message });
    dispatch({ ...error, type: "noticed", message });
    return false;
  }
}

// All of them, which earlier turns have taught.
export const Lessons = memo(({ lessons }) => {
  const list = useRef(null);
  return html`<section aria-label=${t("panel-lessons")} data-testid="lessons">
    <${Region} class="panel-scroller" label=${t("lessons-all")} ref=${list}>
      ${
        lessons?.length === 0 &&
        html`<${Nothing} icon="lamp" title=${t("lessons-none")} text=${t("lessons-none-text")} />`
      }
      <ul class="lesson-list">
        ${(lessons ?? []).map(
          (lesson) =>
            html`<${Lesson}
              key=${lesson.id}
              lesson=${lesson}
              removed=${() => list.current?.focus()}
            />`,
        )}
      </ul>
    <//>
  </section>`;
});
