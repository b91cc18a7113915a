// A token by OAuth's device flow: what the service needs, the code that the person enters on its page, and how it ends.

import { useEffect, useState } from "preact/hooks";
import { authorizeSecret } from "../../api.js";
import { inWords } from "../../cause.js";
import { html, Spinner, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";
import { ErrorWords } from "../parts/problem.js";

const FIELDS = ["device_url", "token_url", "client_id", "client_secret", "scope"];
const EVERY = 2000; // milliseconds between two looks
const OPENS = /^https?:/i;

const words = (error) =>
  error.kind === "task"
    ? { ...inWords(error), message: t("oauth-failed"), remedy: "" }
    : inWords(error);

// `name` is the secret's; `kept` is called when the token is there.
export function Authorize({ name, kept }) {
  const [service, setService] = useState({});
  const [flow, setFlow] = useState({}); // of the secret `flow.name`
  const take = (next, of) => {
    setFlow({ ...next, name: of });
    if (next.state === "kept") kept();
  };
  const look = async (of, body) => {
    try {
      take(await authorizeSecret(of, body), of);
    } catch (error) {
      setFlow({ error, name: of });
    }
  };
  useEffect(() => {
    if (flow.state !== "waiting") return;
    const timer = setTimeout(() => look(flow.name), EVERY);
    return () => clearTimeout(timer);
  }, [flow]);
  const lacks = !name || FIELDS.slice(0, 3).some((field) => !service[field]);
  const { verification_uri: place, error } = flow;
  return html`<${Disclosure} label=${t("oauth")}>
    <p class="run-note">${t("oauth-note")}</p>
    <div class="settings-row">
      ${FIELDS.map(
        (field) =>
          html`<input
            class="input"
            key=${field}
            data-testid=${`oauth-${field}`}
            aria-label=${t(`oauth-${field}`)}
            placeholder=${t(`oauth-${field}`)}
            autocomplete="off"
            spellcheck="false"
            type=${field === "client_secret" ? "password" : "text"}
            value=${service[field] ?? ""}
            onInput=${({ target }) => setService((now) => ({ ...now, [field]: target.value }))}
          />`,
      )}
      <button
        class="button"
        data-testid="oauth-begin"
        disabled=${lacks || flow.state === "waiting"}
        onClick=${() => look(name, service)}
      >
        ${t("oauth-begin")}
      </button>
    </div>
    <div role="status" data-testid="oauth-state">
      ${
        flow.state === "waiting" &&
        html`<p>
          ${t("oauth-enter")}${" "}<strong><code>${flow.user_code}</code></strong
          >${" "}${
            OPENS.test(place)
              ? html`<a href=${place} target="_blank" rel="noopener noreferrer">${place}</a>`
              : place
          }${" "}<${Spinner} label=${t("oauth-waiting")} />
        </p>`
      }
      ${flow.state === "kept" && t("oauth-kept", { name: flow.name })}
      ${
        error &&
        html`<div class="settings-problem">
          <${ErrorWords} error=${words(error)} />
        </div>`
      }
    </div>
  <//>`;
}
