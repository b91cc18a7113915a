// The goal of a build: the form for a new project, and the one to continue building.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { beginProject, buildOn } from "../connection.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { EXAMPLE_GOALS } from "../projects.js";
import { Disclosure } from "./disclosure.js";

const LIMITS = [
  { key: "max_steps", label: "Steps", placeholder: "30" },
  { key: "max_calls", label: "Model calls", placeholder: "60" },
  { key: "max_tokens", label: "Tokens", placeholder: "600000" },
  { key: "max_seconds", label: "Seconds", placeholder: "1800" },
  { key: "max_cost", label: "US dollars", placeholder: "no limit", step: "any" },
];
const EMPTY = { name: "", goal: "", step: false, packages: "", limits: {} };

// What is sent to the server: blank fields are left out.
function optionsOf({ name, goal, step, packages, limits }) {
  const given = Object.fromEntries(
    Object.entries(limits)
      .filter(([, text]) => text !== "")
      .map(([key, text]) => [key, Number(text)]),
  );
  const wanted = packages.split(/[\s,]+/).filter(Boolean);
  return {
    ...(name && { name }),
    goal,
    step,
    ...(wanted.length > 0 && { packages: wanted }),
    ...given,
  };
}

// `close` closes a form that a person opened; null if there is nothing else to show.
export function NewProject({ offline, close }) {
  const [form, setForm] = useState(EMPTY);
  const first = useRef(null);
  useLayoutEffect(() => {
    if (close) first.current.focus();
  }, []);
  const begin = async (event) => {
    event.preventDefault();
    if (await beginProject(optionsOf({ ...form, name: form.name.trim() }))) setForm(EMPTY);
  };
  return html`<form class="project-form" data-testid="project-form" aria-label="New project" onSubmit=${begin}>
    <label class="field">Name
      <input class="input" ref=${first} required maxlength="100" autocomplete="off" spellcheck="false" placeholder="word-counter" data-testid="project-name" value=${form.name} onInput=${(e) => setForm({ ...form, name: e.target.value })} />
    </label>
    <label class="field">Goal
      <textarea class="input" required rows="3" placeholder="What should it do?" data-testid="project-goal" value=${form.goal} onInput=${(e) => setForm({ ...form, goal: e.target.value })}></textarea>
    </label>
    <div>
      <p class="eyebrow">${offline ? "The offline model knows these" : "Try one of these"}</p>
      <ul class="examples compact">${EXAMPLE_GOALS.map((example) => html`<li key=${example.name}><button type="button" class="example" data-testid="example-goal" onClick=${() => setForm({ ...form, ...example })}><span>${example.goal}</span><${Icon} name="chevronRight" /></button></li>`)}</ul>
    </div>
    <${Options} form=${form} setForm=${setForm} />
    <div class="form-actions">
      <button type="submit" class="button primary" data-testid="begin-build"><${Icon} name="hammer" />Build</button>
      ${close && html`<button type="button" class="button quiet" onClick=${close}>Cancel</button>`}
    </div>
  </form>`;
}

// A blank goal keeps the old one.
export function BuildOn({ project }) {
  const [form, setForm] = useState(EMPTY);
  const begin = async (event) => {
    event.preventDefault();
    if (await buildOn(project.id, optionsOf(form))) setForm({ ...form, goal: "" });
  };
  return html`<form class="project-form" data-testid="build-on" aria-label="Continue building" onSubmit=${begin}>
    <label class="field">What should change?
      <textarea class="input" rows="2" placeholder=${`As before: ${project.goal}`} data-testid="build-on-goal" value=${form.goal} onInput=${(e) => setForm({ ...form, goal: e.target.value })}></textarea>
    </label>
    <${Options} form=${form} setForm=${setForm} />
    <div class="form-actions"><button type="submit" class="button" data-testid="build-on-begin"><${Icon} name="hammer" />Continue building</button></div>
  </form>`;
}

function Options({ form, setForm }) {
  const limited = (key) => (e) =>
    setForm({ ...form, limits: { ...form.limits, [key]: e.target.value } });
  return html`<label class="check"><input type="checkbox" data-testid="step-mode" checked=${form.step} onChange=${(e) => setForm({ ...form, step: e.target.checked })} />Ask me before each step</label>
    <${Disclosure} label="Limits and packages">
      <div class="limit-fields">${LIMITS.map(({ key, label, placeholder, step = "1" }) => html`<label key=${key} class="field">${label}<input class="input" type="number" min="0" step=${step} placeholder=${placeholder} data-testid=${key} value=${form.limits[key] ?? ""} onInput=${limited(key)} /></label>`)}</div>
      <label class="field">Allowed packages
        <input class="input" autocomplete="off" spellcheck="false" placeholder="requests==2.32.5" data-testid="packages" value=${form.packages} onInput=${(e) => setForm({ ...form, packages: e.target.value })} />
      </label>
    <//>`;
}
