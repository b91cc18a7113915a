// A tool of the library: what it does, its code, the tests it passed, and its earlier versions.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { postGrant } from "../../api.js";
import { refactor } from "../../connection.js";
import { date, number } from "../../format.js";
import { lazy, Loading } from "../../lazy.js";
import { loadTool, loadTools } from "../../loading.js";
import { openConversation } from "../../route.js";
import { usesOver } from "../../uses.js";
import { authorWords, importWords, standingWords } from "../../versions.js";
import { dispatch, html, Icon, show, t } from "../../view.js";
import { ToolEditor } from "./editor.js";
import { CodeBlock } from "../values/code.js";
import { Disclosure } from "../parts/disclosure.js";
import { Problem } from "../parts/problem.js";
import { Recomputed } from "../chat/recomputed.js";
import { FollowUps, Requests } from "../chat/requests.js";
import { RunForm } from "../chat/run-form.js";
import { Tabs, tabPanel } from "../parts/tabs.js";
import { Badge, ToolMenu } from "./tool-menus.js";
import { Schedules } from "./schedules.js";
import { Standing, Versions } from "./versions.js";
import { Check, ToolLink } from "../parts/controls.js";

const TABS = ["overview", "code", "tests", "teach", "schedules", "versions"];
const CHARTED = 2; // calls from which there is a chart

const Chart = lazy(async () => (await import("../values/chart.js")).Chart);

// `line` is the tool in the list; the list includes tools without details, such as hand-edited ones.
export function ToolDetail({ name, line, detail, versions, sources, problem }) {
  const [tab, setTab] = useState("overview");
  const [back, opened] = [useRef(null), useRef(null)];
  useEffect(() => {
    if (detail && !detail.stale && opened.current === name) return;
    opened.current = name; // known details are shown at once, but the tool may have served more requests since
    loadTool(name);
  }, [name, detail]);
  useEffect(() => back.current.focus({ preventScroll: true }), []);
  return html`<section aria-label=${name} data-testid="tool-detail">
    <div class="tool-head">
      <button
        class="text-button"
        ref=${back}
        data-testid="tool-back"
        onClick=${() => dispatch({ type: "tool_closed" })}
      >
        <${Icon} name="arrowLeft" />${t("recent-all")}
      </button>
      <div class="tool-heading">
        <h2 class="tool-title">${name}</h2>
        ${line && html`<${Badge} standing=${line.standing} />`}<${ToolMenu} name=${name} />
      </div>
      <${Tabs}
        id="tool"
        label=${name}
        tabs=${TABS.map((id) => ({ id, label: t(`tool-${id}`) }))}
        selected=${tab}
        select=${setTab}
      />
    </div>
    <div class="panel-scroller" tabindex="0" ...${tabPanel("tool", tab)}>
      ${
        tab === "versions" && line
          ? html`<${Versions} tool=${line} ...${{ versions, sources, problem }} />`
          : html`<${Detail} ...${{ tab, line, detail, problem }} />`
      }
    </div>
  </section>`;
}

function Detail({ tab, line, detail, problem }) {
  if (!detail) return html`<${Loading} />`;
  if (detail.error) return html`<${Problem} title=${t("tool-not-shown")} ...${detail.error} />`;
  const { tool } = detail;
  const reload = () => (loadTool(tool.name), loadTools());
  if (tab === "code")
    return html`<${CodeBlock}
      code=${tool.code}
      label=${t("tool-code-of", { name: tool.name })}
      whole
    />`;
  if (tab === "tests")
    return html`<${CodeBlock}
      code=${tool.tests}
      label=${t("tool-tests-of", { name: tool.name })}
      whole
    />`;
  if (tab === "schedules") return html`<${Schedules} key=${tool.name} tool=${tool} />`;
  if (tab === "teach") return html`<${ToolEditor} key=${tool.name} tool=${tool} done=${reload} />`;
  return html`<${Overview} ...${{ tool, line, problem }} />`;
}

// Beside each other where the panel is wide.
function Overview({ tool, line, problem }) {
  const {
    description,
    signature,
    example_requests: written = [],
    used_requests: used = [],
    habits = {},
  } = tool;
  return html`<div class="overview">
    <div class="overview-part">
      ${
        problem &&
        html`<${Problem} title=${t("tool-not-possible")} testid="change-problem" ...${problem} />`
      }
      <p class="overview-text">${description}</p>
      <${CodeBlock} code=${signature} label=${t("tool-signature")} whole />
      <h3 class="eyebrow">${t("tool-run")}</h3>
      <${RunForm} key=${tool.name} tool=${tool} />
      <${Faster} name=${tool.name} />
    </div>
    <div class="overview-part">
      <${Requests} name=${tool.name} written=${written} used=${used} past=${habits} />
      <${Habits} ...${habits} />
      ${habits.calls?.length >= CHARTED && html`<${Uses} calls=${habits.calls} />`}
      ${tool.needed?.length > 0 && html`<${Needs} tool=${tool} />`}
      <h3 class="eyebrow">${t("tool-about")}</h3>
      <dl class="facts">
        <dt>${t("tool-version")}</dt>
        <dd>${tool.version} · ${standingWords(tool.standing)}</dd>
        <dt>${t("tool-used")}</dt>
        <dd>${number(tool.uses)}</dd>
        <dt>${t("tool-added")}</dt>
        <dd>${date(tool.created_at)}</dd>
        <dt>${t("tool-author")}</dt>
        <dd>${authorWords(tool.model)}</dd>
        <dt>${t("tool-witnesses")}</dt>
        <dd data-testid="witnesses">${t("tool-checked", { of: tool.witnesses ?? 0 })}</dd>
        ${
          tool.imported &&
          html`<dt>${t("tool-origin")}</dt>
            <dd data-testid="imported">
              ${importWords(tool.imported)}${
                tool.imported.signer && html` <code class="digest">${tool.imported.signer}</code>`
              }
            </dd>`
        }
      </dl>
      ${
        tool.version > 1 && html`<${Recomputed} tool=${tool.name} label=${t("recomputed-title")} />`
      }
      ${line && html`<${Standing} tool=${line} />`}
      <${Disclosure} label=${t("tool-digest")}><code class="digest">${tool.digest}</code><//>
    </div>
  </div>`;
}

// The hosts, packages and limits that the tool needs; the person may allow each.
function Needs({ tool: { name, needed, network, ungranted = [], exchanges } }) {
  const [problem, setProblem] = useState(null);
  const asks = new Set(ungranted.map(needWords));
  const change = (need, allowed) =>
    postGrant(name, need, allowed).then(() => {
      setProblem(null);
      loadTool(name);
    }, setProblem);
  return html`<h3 class="eyebrow">${t("tool-needs")}</h3>
    ${problem && html`<${Problem} title=${t("tool-not-possible")} ...${problem} />`}
    <ul>
      ${needed.map((need) => {
        const words = needWords(need);
        const title = need.host ?? need.name ?? "limits";
        const allowed = !asks.has(words);
        return html`<li class="server-tool" key=${words}>
          <${Check}
            also=${{ title: need.purpose }}
            data-testid="grant"
            data-need=${title}
            checked=${allowed}
            disabled=${isOpen(need)}
            set=${(now) => change(title, now)}
            label=${words}
          />
          <span class="muted">${t(allowed ? "tool-network-allowed" : "tool-network-asks")}</span>
        </li>`;
      })}
    </ul>
    ${network.length > 0 && html`<p class="muted">${t("tool-exchanges", { count: exchanges })}</p>`}`;
}

const zeros = ({ seconds, memory, space }) => ({
  seconds: seconds ?? 0,
  memory: memory ?? 0,
  space: space ?? 0,
});

// Whether an argument of each call names its host, which is asked for then.
const isOpen = ({ host }) => host?.startsWith("{") ?? false;

function needWords(need) {
  const { methods, scheme, host, port, path, secrets, version } = need;
  if (version) return [need.name, version, need.licence].filter(Boolean).join(" ");
  if (!host) return t("tool-limits", zeros(need));
  const address = isOpen(need) ? host : new URL(`${scheme}://${host}:${port}${path}`).href;
  return [methods.join(", "), address, ...secrets.map(({ name }) => name)].join(" ");
}

function Habits({ after = [], together = [] }) {
  return html`${
    after.length > 0 &&
    html`<h3 class="eyebrow">${t("tool-after")}</h3>
      <${FollowUps} after=${after} />`
  }
  ${
    together.length > 0 &&
    html`<h3 class="eyebrow">${t("tool-together")}</h3>
      <p class="overview-text" data-testid="together">
        ${together.map((name) => html`<${ToolLink} key=${name} name=${name} /> `)}
      </p>`
  }`;
}

// The calls are the visitor’s own.
function Uses({ calls }) {
  const { unit, places, returned, failed } = useMemo(() => usesOver(calls, Date.now()), [calls]);
  const label = t("uses-chart", { unit });
  const series = [{ name: t("uses-returned"), values: returned }];
  if (failed.some(Boolean)) series.push({ name: t("uses-failed"), values: failed });
  return html`<h3 class="eyebrow">${label}</h3>
    <div class="uses" data-testid="uses">
      <${Chart} ...${{ label, places, series }} kind="time" form="bar" height=${120} />
    </div>`;
}

function Faster({ name }) {
  const [sent, setSent] = useState(false);
  const send = async () => {
    setSent(true);
    const conversation = await refactor(name);
    setSent(false);
    if (!conversation) return;
    openConversation(conversation);
    show("activity");
  };
  return html`<p>
    <button class="button" data-testid="faster" disabled=${sent} onClick=${send}>
      <${Icon} name="hammer" />${t("tool-faster")}
    </button>
  </p>`;
}
