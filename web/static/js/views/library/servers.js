// Other MCP servers, whose tools the agent may use: their state, and which tools are always allowed.

import { useEffect, useState } from "preact/hooks";
import { getServers, postConsent } from "../../api.js";
import { html, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";
import { Check } from "../parts/controls.js";
import { ErrorWords } from "../parts/problem.js";

const AGAIN = 2000; // milliseconds before a state is asked for again, while a server is being connected

export function Servers() {
  const [servers, setServers] = useState([]);
  const [problem, setProblem] = useState(null);
  const take = (request) => request.then(setServers, setProblem);
  useEffect(() => void take(getServers()), []);
  const connecting = servers.some(({ state }) => state === "connecting" || state === "idle");
  useEffect(() => {
    if (!connecting) return undefined;
    const timer = setTimeout(() => take(getServers()), AGAIN);
    return () => clearTimeout(timer);
  }, [servers]);
  if (servers.length === 0 && !problem) return null;
  const change = (server, tool, allowed) => take(postConsent(server, tool, allowed));
  return html`<section class="servers" aria-label=${t("servers")} data-testid="servers">
    <${Disclosure} label=${t("servers-count", { count: servers.length })}>
      ${problem && html`<div role="alert"><${ErrorWords} error=${problem} /></div>`}
      ${servers.map(
        (server) => html`<${Server} key=${server.name} server=${server} change=${change} />`,
      )}
    <//>
  </section>`;
}

function Server({ server, change }) {
  const { name, address, state, problem, tools } = server;
  return html`<div class="server" data-testid="server" data-server=${name}>
    <p class="tool-row-head">
      <span class="tool-row-name">${name || "mcp.json"}</span
      ><span class="tool-row-fact">${t(`server-${state}`)}</span>
    </p>
    ${address && html`<p class="server-address"><code>${address}</code></p>`}
    ${problem && html`<p class="server-problem">${problem}</p>`}
    <ul>
      ${tools.map(
        (tool) =>
          html`<${ServerTool} key=${tool.name} server=${name} tool=${tool} change=${change} />`,
      )}
    </ul>
  </div>`;
}

function ServerTool({ server, tool, change }) {
  return html`<li class="server-tool">
    <${Check}
      also=${{ title: tool.description }}
      data-testid="server-tool"
      data-tool=${tool.name}
      checked=${tool.allowed}
      set=${(allowed) => change(server, tool.name, allowed)}
      label=${tool.name}
    />
    <span class="muted"
      >${t(
        tool.allowed ? "server-tool-allowed" : "server-tool-asks",
      )}${tool.read_only && ` · ${t("server-tool-reads")}`}</span
    >
  </li>`;
}
