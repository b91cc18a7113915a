// The lessons of earlier turns: read, reworded and deleted.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { deleteLesson, patchLesson } from "../../api.js";
import { percent } from "../../format.js";
import { loadLessons } from "../../loading.js";
import { dispatch, html, Icon, memo, t, words } from "../../view.js";
import { Region } from "../parts/controls.js";

const LONGEST = 400;

function Lesson({ lesson, removed }) {
  const [mode, setMode] = useState("read");
  const left = useRef(null);
  const edit = useRef(null);
  const remove = useRef(null);
  useLayoutEffect(() => {
    if (mode === "read" && left.current) (left.current === "edit" ? edit : remove).current.focus();
    left.current = mode === "read" ? null : mode;
  }, [mode]);
  const close = () => setMode("read");
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
      mode === "edit"
        ? html`<${Words} lesson=${lesson} close=${close} />`
        : html`<h3 class="lesson-trigger">${lesson.trigger}</h3>
            <p class="lesson-advice">${lesson.advice}</p>`
    }
    ${
      mode === "read" &&
      html`<div class="lesson-actions">
        <button
          class="text-button"
          ref=${edit}
          data-testid="edit-lesson"
          aria-label=${t("lesson-edit-of", { trigger: lesson.trigger })}
          onClick=${() => setMode("edit")}
        >
          ${t("lesson-edit")}
        </button>
        <button
          class="text-button"
          ref=${remove}
          data-testid="delete-lesson"
          aria-label=${t("lesson-delete-of", { trigger: lesson.trigger })}
          onClick=${() => setMode("delete")}
        >
          ${t("lesson-delete")}
        </button>
      </div>`
    }
    ${mode === "delete" && html`<${Removal} lesson=${lesson} close=${close} removed=${removed} />`}
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

function Removal({ lesson, close, removed }) {
  const keep = useRef(null);
  useLayoutEffect(() => keep.current.focus(), []);
  const press = async () => {
    if (await changed(deleteLesson(lesson.id))) removed();
  };
  return html`<div
    class="lesson-actions"
    role="group"
    aria-label=${t("lesson-delete-question")}
    onKeyDown=${(e) => e.key === "Escape" && close()}
  >
    <span class="lesson-question">${t("lesson-delete-question")}</span>
    <button class="button" ref=${keep} onClick=${close}>${t("lesson-keep")}</button>
    <button class="button" data-testid="confirm-delete" onClick=${press}>
      ${t("lesson-delete")}
    </button>
  </div>`;
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
      ${lessons?.length === 0 && html`<${NoLessons} />`}
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

function NoLessons() {
  return html`<div class="nothing">
    <${Icon} name="lamp" />
    <p class="nothing-title">${t("lessons-none")}</p>
    <p>${t("lessons-none-text")}</p>
  </div>`;
}
