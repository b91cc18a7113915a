// The state of model, sandbox and library: a word in the header, the details in a popover.

import { html } from "../html.js";
import { Icon } from "../icons.js";
import { backendWords, plural } from "../format.js";
import { Disclosure } from "./disclosure.js";
import { dispatch } from "../store.js";
import { Prose } from "./prose.js";

function Status({ id, icon, label, state, tone, word, title, children }) {
  return html`<div class="status">
    <button type="button" class="chip" data-testid=${`status-${id}`} data-state=${state} data-tone=${tone} popovertarget=${`about-${id}`} aria-label=${`${label}: ${word}`}>
      <${Icon} name=${icon} /><span class="chip-label">${label}</span><span class="chip-word">${word}</span>
    </button>
    <div id=${`about-${id}`} class="popover" popover="auto" role="dialog" aria-label=${label} data-testid=${`status-${id}-details`}>
      <h2 class="popover-title"><span class="tone-dot" data-tone=${tone}></span>${title}</h2>
      ${children}
    </div>
  </div>`;
}

// Whether the sandbox is still being set up, after a first start.
export const isPreparing = (unready = []) =>
  unready.some(({ part, state }) => part === "sandbox" && state !== "failed");

const waiting = { state: "unknown", tone: "idle", word: "…" };

export function ModelStatus({ model }) {
  const shown = !model
    ? { ...waiting, title: "Checking the model" }
    : model.trouble
      ? {
          state: "unreachable",
          tone: "bad",
          word: "No reply",
          title: `${model.name} does not reply`,
        }
      : model.offline
        ? { state: "offline", tone: "warn", word: "Offline model", title: "Offline model" }
        : { state: "online", tone: "good", word: model.name, title: model.name };
  return html`<${Status} id="model" icon="model" label="Model" ...${shown}>
    ${model?.offline && html`<p>No model server is set up, so a built-in one works from a fixed cookbook of recipes. It builds and runs real tools, but it knows only those recipes: for anything else it says that it doesn’t know.</p>`}
    ${model?.trouble && html`<p data-testid="model-trouble">The last request failed: <${Prose} text=${model.trouble} />. The next one tries again.</p>`}
    ${model && html`<p class="muted">${model.detail}</p>`}
    ${model?.offline && html`<p>To use a real model, set <code>OPENAI_API_KEY</code> or <code>OPENAI_BASE_URL</code> in <code>.env</code> and restart the server.</p>`}
  <//>`;
}

export function SandboxStatus({ sandbox, unready }) {
  const preparing = isPreparing(unready);
  const shown = !sandbox
    ? { ...waiting, title: "Checking the sandbox" }
    : preparing
      ? { state: "preparing", tone: "idle", word: "Setting up", title: "Setting up the sandbox" }
      : sandbox.available
        ? { state: "available", tone: "good", word: "Ready", title: "Sandbox ready" }
        : { state: "unavailable", tone: "bad", word: "Unavailable", title: "No sandbox" };
  return html`<${Status} id="sandbox" icon="box" label="Sandbox" ...${shown}>
    <p>${preparing ? "The sandbox is being set up. Requests that need it wait." : sandbox?.available ? `Generated code runs in ${backendWords(sandbox.backend)} of its own, never on this machine itself.` : "Without a sandbox no tool is written or run. The page and the library still work."}</p>
    ${sandbox && !preparing && html`<p class="muted">${sandbox.detail}</p>`}
    ${!preparing && sandbox?.not_guaranteed?.length > 0 && html`<${Disclosure} label="What it does not guarantee"><ul class="limits">${sandbox.not_guaranteed.map((sentence) => html`<li key=${sentence}>${sentence}</li>`)}</ul><//>`}
  <//>`;
}

export function LibraryStatus({ library, count }) {
  const tools = count ?? library?.tools;
  const shown =
    tools == null
      ? { ...waiting, title: "Checking the library" }
      : {
          state: "loaded",
          tone: "good",
          word: plural(tools, "tool"),
          title: plural(tools, "tool"),
        };
  const browse = () => {
    document.getElementById("about-library").hidePopover();
    dispatch({ type: "view_selected", view: "library" });
  };
  return html`<${Status} id="library" icon="book" label="Library" ...${shown}>
    <p>Every tool passed its own tests in the sandbox before it was kept.</p>
    ${library?.detail && html`<p class="muted">${library.detail}</p>`}
    <button type="button" class="button" onClick=${browse}>Browse the library</button>
  <//>`;
}
