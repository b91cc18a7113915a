// A tool of the library: what it does, its code, the tests it passed, and its earlier versions.

import { useEffect, useRef, useState } from "preact/hooks";
import { refactor } from "../connection.js";
import { date, plural } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { loadTool } from "../loading.js";
import { openConversation } from "../route.js";
import { dispatch } from "../store.js";
import { Badge } from "./badge.js";
import { CodeBlock } from "./code.js";
import { Disclosure } from "./disclosure.js";
import { Problem } from "./problem.js";
import { FollowUps, Requests } from "./requests.js";
import { RunForm } from "./run-form.js";
import { Tabs, tabPanel } from "./tabs.js";
import { Versions } from "./versions.js";

const TABS = [
  { id: "overview", label: "Overview" },
  { id: "code", label: "Code" },
  { id: "tests", label: "Tests" },
  { id: "versions", label: "Versions" },
];

// `line` is the tool in the list; the list includes tools without details, such as hand-edited ones.
export function ToolDetail({ name, line, detail, versions, sources, problem }) {
  const [tab, setTab] = useState("overview");
  const [back, opened] = [useRef(null), useRef(null)];
  useEffect(() => {
    if (detail && opened.current === name) return;
    opened.current = name; // known details are shown at once, but the tool may have served more requests since
    loadTool(name);
  }, [name, detail]);
  useEffect(() => back.current.focus({ preventScroll: true }), []);
  return html`<section aria-label=${name} data-testid="tool-detail">
    <div class="tool-head">
      <button type="button" class="text-button" ref=${back} data-testid="tool-back" onClick=${() => dispatch({ type: "tool_closed" })}><${Icon} name="arrowLeft" />All tools</button>
      <div class="tool-name"><h2 class="tool-title">${name}</h2>${line && html`<${Badge} standing=${line.standing} />`}</div>
      <${Tabs} id="tool" label=${name} tabs=${TABS} selected=${tab} select=${setTab} />
    </div>
    <div class="panel-scroller" tabindex="0" ...${tabPanel("tool", tab)}>
      ${tab === "versions" && line ? html`<${Versions} tool=${line} versions=${versions} sources=${sources} problem=${problem} />` : html`<${Detail} tab=${tab} detail=${detail} problem=${problem} />`}
    </div>
  </section>`;
}

function Detail({ tab, detail, problem }) {
  if (!detail)
    return html`<div class="nothing"><span class="spinner" role="img" aria-label="Loading"></span></div>`;
  if (detail.error) return html`<${Problem} title="This tool can’t be shown" ...${detail.error} />`;
  return html`<${Body} tab=${tab} tool=${detail.tool} problem=${problem} />`;
}

function Body({ tab, tool, problem }) {
  if (tab === "code")
    return html`<${CodeBlock} code=${tool.code} label=${`Code of ${tool.name}`} whole />`;
  if (tab === "tests")
    return html`<${CodeBlock} code=${tool.tests} label=${`Tests of ${tool.name}`} whole />`;
  return html`<${Overview} tool=${tool} problem=${problem} />`;
}

function Overview({ tool, problem }) {
  const {
    description,
    signature,
    example_requests: written = [],
    used_requests: used = [],
    habits = {},
  } = tool;
  return html`<div class="overview">
    ${problem && html`<${Problem} title="That was not possible" testid="change-problem" ...${problem} />`}
    <p class="overview-text">${description}</p>
    <${CodeBlock} code=${signature} label="Signature" whole />
    <h3 class="eyebrow">Run it by hand</h3>
    <${RunForm} key=${tool.name} tool=${tool} />
    <${Faster} name=${tool.name} />
    <${Requests} name=${tool.name} written=${written} used=${used} />
    <${Habits} ...${habits} />
    <${Past} ...${habits} />
    <h3 class="eyebrow">About</h3>
    <dl class="facts">
      <dt>version</dt><dd>${tool.version}, ${tool.standing}</dd>
      <dt>used</dt><dd>${plural(tool.uses, "time")}</dd>
      <dt>added</dt><dd>${date(tool.created_at)}</dd>
      <dt>written by</dt><dd>${tool.model || "hand"}</dd>
    </dl>
    <${Disclosure} label="Digest"><code class="digest">${tool.digest}</code><//>
  </div>`;
}

function Habits({ after = [], together = [] }) {
  return html`${after.length > 0 && html`<h3 class="eyebrow">You often ask next</h3><${FollowUps} after=${after} />`}
    ${
      together.length > 0 &&
      html`<h3 class="eyebrow">You often use it with</h3>
    <p class="overview-text" data-testid="together">${together.map((name) => html`<button type="button" class="tool-link" key=${name} onClick=${() => dispatch({ type: "tool_opened", name })}><${Icon} name="tool" />${name}</button> `)}</p>`
    }`;
}

// The conversations are the visitor's own.
function Past({ made, last = [] }) {
  const link = ({ conversation_id: id, request }) =>
    html`<button type="button" class="example" data-testid="past-turn" onClick=${() => openConversation(id)}><span>${request}</span><${Icon} name="chevronRight" /></button>`;
  return html`${made && html`<h3 class="eyebrow">Built in</h3><ul class="examples compact"><li>${link(made)}</li></ul>`}
    ${last.length > 0 && html`<h3 class="eyebrow">Your last uses</h3><ul class="examples compact">${last.map((use, n) => html`<li key=${n}>${link(use)}</li>`)}</ul>`}`;
}

function Faster({ name }) {
  const [sent, setSent] = useState(false);
  const send = async () => {
    setSent(true);
    const conversation = await refactor(name);
    setSent(false);
    if (!conversation) return;
    openConversation(conversation);
    dispatch({ type: "view_selected", view: "activity" });
  };
  return html`<p><button type="button" class="button" data-testid="faster" disabled=${sent} onClick=${send}><${Icon} name="hammer" />Make it faster</button></p>`;
}
