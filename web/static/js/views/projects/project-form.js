// The instructions to a build: the start of a new project, and the composer of an open one.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { beginProject, buildOn } from "../../connection.js";
import { EXAMPLE_GOALS, HISTORY, nameOf } from "../../projects.js";
import { dispatch, html, Icon, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";
import { Check, Region } from "../parts/controls.js";

const LIMITS = [
  { key: "max_steps", usual: "30" },
  { key: "max_calls", usual: "60" },
  { key: "max_tokens", usual: "600000" },
  { key: "max_seconds", usual: "1800" },
  { key: "max_cost", usual: "", step: "any" },
];
const A_PACKAGE = "requests==2.32.5";
const EMPTY = { step: false, packages: "", limits: {} };

// The fields for the server: blank ones are left out.
function optionsOf({ step, packages, limits }) {
  const given = Object.entries(limits).filter(([, text]) => text !== "");
  const wanted = packages.split(/[\s,]+/).filter(Boolean);
  return {
    step,
    ...(wanted.length > 0 && { packages: wanted }),
    ...Object.fromEntries(given.map(([key, text]) => [key, Number(text)])),
  };
}

const write = (text) => dispatch({ type: "draft_changed", text });

// The goal is the draft of this place, so it outlives a look elsewhere and a reload.
export function NewProject({ goal, offline }) {
  const [name, setName] = useState("");
  const [form, setForm] = useState(EMPTY);
  const first = useRef(null);
  useEffect(() => first.current.focus(), []);
  const begin = async (event) => {
    event.preventDefault();
    const options = { name: name.trim() || nameOf(goal), goal: goal.trim(), ...optionsOf(form) };
    if (options.goal) await beginProject(options);
    else first.current.focus();
  };
  const choose = (example) => {
    write(t(`project-example-${example}`));
    setName(example);
  };
  return html`<main class="chat" aria-label=${t("project-new")}>
    <${Region} class="chat-scroller" label=${t("project-new")}>
      <form
        class="chat-content project-door"
        data-testid="project-form"
        aria-label=${t("project-new")}
        onSubmit=${begin}
      >
        <div>
          <h2 class="empty-title">${t("project-door")}</h2>
          <p class="project-goal">${t("project-door-text")}</p>
        </div>
        <label class="field"
          >${t("project-goal")}
          <textarea
            class="input"
            id="composer"
            ref=${first}
            required
            rows="3"
            placeholder=${t("project-goal-hint")}
            data-testid="project-goal"
            value=${goal}
            onInput=${(e) => write(e.target.value)}
          ></textarea>
        </label>
        <div>
          <h3 class="eyebrow">${t(offline ? "project-examples-offline" : "project-examples")}</h3>
          <ul class="kinds">
            ${EXAMPLE_GOALS.map(
              (example) =>
                html`<li key=${example}>
                  <button class="kind" data-testid="example-goal" onClick=${() => choose(example)}>
                    <span class="kind-name"><${Icon} name="folder" />${example}</span
                    ><span class="kind-request">${t(`project-example-${example}`)}</span>
                  </button>
                </li>`,
            )}
          </ul>
        </div>
        <div class="project-fields">
          <label class="field"
            >${t("project-name")}
            <input
              class="input"
              maxlength="100"
              autocomplete="off"
              spellcheck="false"
              placeholder=${nameOf(goal)}
              data-testid="project-name"
              value=${name}
              onInput=${(e) => setName(e.target.value)}
            />
          </label>
          <${Packages} form=${form} setForm=${setForm} />
        </div>
        <${StepMode} form=${form} setForm=${setForm} />
        <${Disclosure} label=${t("project-limits")}><${Limits} ...${{ form, setForm }} /><//>
        <div class="form-actions">
          <button type="submit" class="button primary" data-testid="begin-build">
            <${Icon} name="hammer" />${t("project-build")}
          </button>
        </div>
      </form>
    <//>
  </main>`;
}

// A blank goal keeps the old one.
export function BuildOn({ project: { id, name }, goal, focus }) {
  const [form, setForm] = useState(EMPTY);
  const field = useRef(null);
  useLayoutEffect(() => {
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [goal]);
  useEffect(() => {
    if (focus > 0) field.current.focus();
  }, [focus]);
  const begin = async (event) => {
    event.preventDefault();
    if (!(await buildOn(id, { goal: goal.trim(), ...optionsOf(form) }))) return;
    write("");
    dispatch({ type: "project_tab_shown", tab: HISTORY });
  };
  const pressed = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && goal.trim()) begin(event);
  };
  const asks = t("project-change", { name });
  return html`<form
    class="project-composer"
    data-testid="build-on"
    aria-label=${t("project-continue")}
    onSubmit=${begin}
  >
    <div class="composer">
      <label class="visually-hidden" for="composer">${asks}</label>
      <textarea
        id="composer"
        class="project-ask"
        ref=${field}
        rows="1"
        autocomplete="off"
        placeholder=${asks}
        aria-describedby="build-on-hint"
        data-testid="build-on-goal"
        value=${goal}
        onInput=${(e) => write(e.target.value)}
        onKeyDown=${pressed}
      ></textarea>
      <button type="submit" class="button primary project-send" data-testid="build-on-begin">
        <${Icon} name="hammer" /><span class="project-words">${t("project-continue")}</span>
      </button>
    </div>
    <p class="visually-hidden" id="build-on-hint">${t("project-continue-hint")}</p>
    <div class="project-options">
      <${StepMode} form=${form} setForm=${setForm} />
      <${Disclosure} label=${t("project-options")}
        ><${Packages} form=${form} setForm=${setForm} /><${Limits} ...${{ form, setForm }}
      /><//>
    </div>
  </form>`;
}

const StepMode = ({ form, setForm }) =>
  html`<${Check}
    data-testid="step-mode"
    checked=${form.step}
    set=${(step) => setForm({ ...form, step })}
    label=${t("project-step-mode")}
  />`;

const Packages = ({ form, setForm }) =>
  html`<label class="field"
    >${t("project-packages")}
    <input
      class="input"
      autocomplete="off"
      spellcheck="false"
      placeholder=${A_PACKAGE}
      data-testid="packages"
      value=${form.packages}
      onInput=${(e) => setForm({ ...form, packages: e.target.value })}
    />
  </label>`;

function Limits({ form, setForm }) {
  const limited = (key) => (e) =>
    setForm({ ...form, limits: { ...form.limits, [key]: e.target.value } });
  const field = ({ key, usual, step = "1" }) =>
    html`<label key=${key} class="field"
      >${t(`project-${key}`)}<input
        class="input"
        type="number"
        min="0"
        step=${step}
        placeholder=${usual || t("project-no-limit")}
        data-testid=${key}
        value=${form.limits[key] ?? ""}
        onInput=${limited(key)}
    /></label>`;
  return html`<div class="limit-fields">${LIMITS.map(field)}</div>`;
}
