// Model servers that were found on the server's machine, each with one click to use it.

import { useState } from "preact/hooks";
import { patchSettings } from "../../api.js";
import { errorWords } from "../../settings.js";
import { dispatch, html, Icon, t } from "../../view.js";
import { Select } from "../parts/controls.js";
import { ErrorWords } from "../parts/problem.js";

export function LocalServers({ servers, title = t("local-title") }) {
  if (!servers?.length) return null;
  return html`<section class="local" data-testid="local-servers" aria-label=${title}>
    <p class="local-title"><${Icon} name="model" />${title}</p>
    <ul>
      ${servers.map((server) => html`<${Local} key=${server.address} server=${server} />`)}
    </ul>
  </section>`;
}

function Local({ server: { kind, address, models } }) {
  const [chosen, setChosen] = useState(null);
  const [state, setState] = useState({ busy: false, problem: "" });
  const model = models.includes(chosen) ? chosen : models[0];
  const name = t(`settings-server-${kind === "other" ? "unnamed" : kind}`);
  const use = async () => {
    setState({ busy: true, problem: "" });
    try {
      const changes = { openai_base_url: address, openai_model: model, openai_api_key: null };
      dispatch({ type: "settings_saved", view: await patchSettings(changes) });
      setState({ busy: false, problem: "" });
    } catch (error) {
      setState({ busy: false, problem: error.fields ? { message: errorWords(error) } : error });
    }
  };
  return html`<li class="local-server" data-testid="local-server" data-kind=${kind}>
    <p class="local-name">
      <strong>${name}</strong> <span class="local-address">${new URL(address).host}</span>
    </p>
    ${
      models.length === 1
        ? html`<span class="local-model">${model}</span>`
        : html`<${Select}
            class="input local-model"
            data-testid="local-model"
            aria-label=${t("local-model", { server: name })}
            value=${model}
            options=${models.map((id) => [id, id])}
            choose=${setChosen}
          />`
    }
    <button
      class="button primary"
      data-testid="local-use"
      aria-label=${t("local-use-this", { model, server: name })}
      disabled=${state.busy}
      onClick=${use}
    >
      ${t("local-use")}
    </button>
    ${
      state.problem &&
      html`<div class="settings-problem" role="alert">
        <${ErrorWords} error=${state.problem} />
      </div>`
    }
  </li>`;
}
