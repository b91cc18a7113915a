// The secrets that tools use: their names, and a form for a value, which is only ever sent.

import { useEffect, useState } from "preact/hooks";
import { deleteSecret, getSecrets, putSecret } from "../../api.js";
import { html, t } from "../../view.js";
import { Confirm } from "../parts/confirm.js";
import { ErrorWords } from "../parts/problem.js";
import { Authorize } from "./authorize.js";

const EMPTY = { name: "", value: "" };
const SHORTEST = 6; // characters of a value

export function Secrets() {
  const [{ secrets, error }, setState] = useState({ secrets: [] });
  const [form, setForm] = useState(EMPTY);
  const perform = async (change = () => {}) => {
    try {
      await change();
      setState({ secrets: await getSecrets() });
    } catch (problem) {
      setState((now) => ({ ...now, error: problem }));
    }
  };
  useEffect(() => {
    perform();
  }, []);
  const save = () =>
    perform(async () => {
      await putSecret(form.name.trim().toUpperCase(), form.value);
      setForm(EMPTY);
    });
  const field = (name, label, options) =>
    html`<input
      class="input"
      data-testid=${`secret-${name}`}
      aria-label=${label}
      placeholder=${label}
      autocomplete="off"
      spellcheck="false"
      ...${options}
      value=${form[name]}
      onInput=${({ target }) => setForm((now) => ({ ...now, [name]: target.value }))}
    />`;
  return html`<section class="settings-part" aria-labelledby="settings-secrets">
    <h3 class="settings-heading" id="settings-secrets">${t("secrets")}</h3>
    <p class="run-note">${t("secrets-note")}</p>
    ${secrets.map(
      ({ name, readable }) =>
        html`<div class="settings-row" key=${name} data-testid="secret">
          <code>${name}</code>
          <span class="run-note">${!readable && t("secrets-again")}</span>
          <${Confirm}
            label=${t("secrets-remove")}
            about=${name}
            question=${t("secrets-remove-question", { name })}
            act=${() => perform(() => deleteSecret(name))}
            testid="secret-remove"
          />
        </div>`,
    )}
    <div class="settings-row">
      ${field("name", t("secrets-name"), { maxlength: 64 })}
      ${field("value", t("secrets-value"), { maxlength: 8192, type: "password" })}
      <button
        class="button"
        data-testid="secret-save"
        disabled=${!form.name || form.value.length < SHORTEST}
        onClick=${save}
      >
        ${t("secrets-save")}
      </button>
    </div>
    <${Authorize} name=${form.name.trim().toUpperCase()} kept=${perform} />
    ${
      error &&
      html`<div class="settings-problem" role="alert" data-testid="secret-error">
        <${ErrorWords} error=${error} />
      </div>`
    }
  </section>`;
}
