// The dialog with the settings: the model, limits, and what only a restart changes.

import { useEffect, useRef, useState } from "preact/hooks";
import { getLocalServers, getModels, getSettings, patchSettings } from "../../api.js";
import { stopTest, testModel } from "../../connection.js";
import { Loading } from "../../lazy.js";
import {
  changesOf,
  connectionChanges,
  errorWords,
  formOf,
  LIMITS,
  losesKey,
  missing,
  problemWords,
  SERVERS,
  withServer,
} from "../../settings.js";
import { dispatch, html, Icon, rich, t } from "../../view.js";
import { Combobox } from "../parts/combobox.js";
import { LocalServers } from "./local-servers.js";
import { ModelTest } from "./model-test.js";
import { Secrets } from "./secrets.js";
import { Spending } from "./spending.js";
import { StoredData } from "./stored-data.js";
import { Dialog } from "../parts/dialog.js";
import { Select } from "../parts/controls.js";
import { ErrorWords } from "../parts/problem.js";
import { chooseLanguage, languageChoice } from "../../language.js";
import { allowNotices, mayAsk, noticesState } from "../../notifying.js";
import { chooseTheme, themeChoice } from "../../theme.js";

async function load() {
  try {
    dispatch({ type: "settings_loaded", view: await getSettings() });
  } catch (error) {
    refuse(error);
  }
}

const refuse = (error) => dispatch({ type: "settings_refused", error });

export function Settings({ settings: { view, error, fields, saved, test } }) {
  const [form, setForm] = useState(null);
  useEffect(() => void load(), []);
  useEffect(() => {
    if (view) setForm((now) => (now && !saved ? now : formOf(view)));
  }, [view]);
  useEffect(() => void document.querySelector(".settings [aria-invalid=true]")?.focus(), [fields]);
  const edit = (change) => {
    setForm((now) => ({ ...now, ...change }));
    if (saved || error) dispatch({ type: "settings_edited" });
  };
  const check = () => {
    const lacks = Object.entries(missing(form, view)).map(([name, kind]) => [name, { kind }]);
    if (lacks.length > 0)
      dispatch({
        type: "settings_refused",
        error: { message: "", fields: Object.fromEntries(lacks) },
      });
    return lacks.length === 0;
  };
  const save = async (event) => {
    event.preventDefault();
    if (!form || !check()) return;
    try {
      const changed = await patchSettings(changesOf(form, view));
      dispatch({ type: "settings_saved", view: changed });
    } catch (problem) {
      refuse(problem);
    }
  };
  const closed = () => {
    stopTest();
    dispatch({ type: "settings_closed" });
  };
  const begin = () => check() && testModel(connectionChanges(form, view));
  return html`<${Dialog}
    kind="settings"
    title=${t("settings-title")}
    testid="settings"
    closedby="closerequest"
    close=${closed}
  >
    ${!form && !error && html`<${Loading} />`}
    ${
      !form &&
      error &&
      html`<div class="settings-problem" role="alert">
        <${ErrorWords} error=${error} />
        <button class="button" onClick=${load}>${t("try-again")}</button>
      </div>`
    }
    ${
      form &&
      html`<form class="settings-form" novalidate onSubmit=${save}>
        <${OnThisMachine} view=${view} />
        <${Model} form=${form} view=${view} fields=${fields} edit=${edit} />
        <${ModelTest} test=${test} offline=${form.server === "offline"} begin=${begin} />
        <${Limits} form=${form} view=${view} fields=${fields} edit=${edit} />
        <${Secrets} />
        <${Spending} />
        <${StoredData} />
        <${ThisBrowser} />
        <${Elsewhere} view=${view} />
        <div class="settings-foot">
          <p class="settings-told" role="status" data-testid="settings-saved">
            ${saved && html`<${Icon} name="check" />${t("settings-saved")}`}
          </p>
          ${
            error?.message &&
            html`<div class="settings-problem" role="alert" data-testid="settings-error">
              ${
                Object.keys(fields).length > 0
                  ? t("settings-some-wrong")
                  : html`<${ErrorWords} error=${error} />`
              }
            </div>`
          }
          <button type="submit" class="button primary" data-testid="settings-save">
            ${t("settings-save")}
          </button>
        </div>
      </form>`
    }
  <//>`;
}

// Servers that were found when the dialog was opened or when a person asked again, but for that in use.
function OnThisMachine({ view }) {
  const [found, setFound] = useState({ servers: [], looking: false, asked: false });
  const look = async (asked) => {
    setFound((now) => ({ ...now, looking: true }));
    const servers = await getLocalServers().catch(() => []);
    setFound({ servers, looking: false, asked });
  };
  useEffect(() => void look(false), []);
  if ("openai_base_url" in view.fixed || "openai_model" in view.fixed) return null;
  const others = found.servers.filter(({ address }) => address !== view.values.openai_base_url);
  return html`<div class="settings-local">
    <${LocalServers} servers=${others} />
    <p class="settings-look">
      <button
        class="text-button"
        data-testid="settings-look"
        disabled=${found.looking}
        onClick=${() => look(true)}
      >
        <${Icon} name="search" />${t(others.length > 0 ? "local-again" : "local-look")}
      </button>
      <span role="status" class="run-note"
        >${found.asked && !found.looking && others.length === 0 && t("local-none")}</span
      >
    </p>
  </div>`;
}

// A labelled field with its note and problem. `children` gets what the control needs.
function Field({ name, label, note, view, fields, children }) {
  const place = view.fixed[name];
  const about = `settings-${name}-about`;
  const problem = fields[name];
  const shown = place ? fixedWords(name, place) : note;
  const common = {
    id: `settings-${name}`,
    "data-testid": `settings-${name}`,
    "aria-describedby": about,
    "aria-invalid": problem ? "true" : null,
  };
  return html`<div class="settings-field" data-fixed=${Boolean(place)}>
    <label class="settings-label" for=${common.id}>${label}</label>
    ${children(common, Boolean(place))}
    <p class="run-note" id=${about}>
      ${problem && html`<span class="run-problem">${problemWords(problem)}</span> `}${shown}
    </p>
  </div>`;
}

const fixedWords = (name, place) =>
  place === "key"
    ? t("settings-fixed-key")
    : rich(`settings-fixed-${place === ".env" ? "file" : place}`, {
        name: html`<code>${name.toUpperCase()}</code>`,
      });

function Model({ form, view, fields, edit }) {
  const { models, trouble, loading, find } = useModels(form, view);
  const offline = form.server === "offline";
  const field = { view, fields };
  const known = models === null || models.length === 0 || models.includes(form.model.trim());
  return html`<section class="settings-part" aria-labelledby="settings-model">
    <h3 class="settings-heading" id="settings-model">${t("settings-model")}</h3>
    <${Field}
      ...${field}
      name="openai_base_url"
      label=${t("settings-server")}
      note=${t(`settings-about-${form.server}`)}
    >
      ${(common, fixed) =>
        html`<${Select}
            class="input"
            ...${common}
            data-testid="settings-server"
            value=${form.server}
            options=${SERVERS.map(({ id }) => [id, t(`settings-server-${id}`)])}
            disabled=${fixed}
            choose=${(id) => edit(withServer(form, id))}
          />
          ${
            !offline &&
            form.server !== "openai" &&
            html`<input
              class="input"
              data-testid="settings-address"
              aria-label=${t("settings-address")}
              aria-describedby=${common["aria-describedby"]}
              aria-invalid=${common["aria-invalid"]}
              type="url"
              inputmode="url"
              autocomplete="off"
              spellcheck="false"
              maxlength="2000"
              readonly=${fixed}
              value=${form.address}
              onInput=${({ target }) => edit({ address: target.value })}
              onChange=${() => models !== null && find()}
            />`
          }`}
    <//>
    ${
      !offline &&
      html`<${Field}
          ...${field}
          name="openai_api_key"
          label=${t("settings-key")}
          note=${keyNote(form, view)}
        >
          ${(common, fixed) =>
            html`<div class="settings-row">
              <input
                class="input"
                ...${common}
                type="password"
                autocomplete="off"
                spellcheck="false"
                maxlength="2000"
                readonly=${fixed}
                placeholder=${isKept(form, view) ? t("settings-key-set") : t("settings-key-none")}
                value=${form.key}
                onInput=${({ target }) => edit({ key: target.value, removesKey: false })}
                onChange=${() => models !== null && find()}
              />
              ${
                isKept(form, view) &&
                !fixed &&
                html`<button
                  class="button"
                  data-testid="settings-key-remove"
                  onClick=${() => edit({ key: "", removesKey: true })}
                >
                  ${t("settings-key-remove")}
                </button>`
              }
            </div>`}
        <//>
        <${Field}
          ...${field}
          name="openai_model"
          label=${t("settings-name")}
          note=${
            trouble
              ? t("settings-models-trouble", { problem: trouble })
              : known
                ? t("settings-models-note")
                : t("settings-models-unknown", { model: form.model.trim() })
          }
        >
          ${(common, fixed) =>
            html`<${Combobox}
              ...${{ common, loading }}
              value=${form.model}
              readonly=${fixed}
              options=${models ?? []}
              open=${find}
              label=${t("settings-models")}
              input=${(model) => edit({ model })}
            />`}
        <//>`
    }
  </section>`;
}

const isKept = (form, view) =>
  view.key_set && !form.removesKey && !form.key && !losesKey(form, view);

function keyNote(form, view) {
  if (losesKey(form, view)) return t("settings-key-loses");
  if (form.removesKey) return t("settings-key-removed");
  return t("settings-key-note");
}

// The server's own list for what the form says now; asked for when it is wanted.
function useModels(form, view) {
  const [found, setFound] = useState({ models: null, trouble: "", loading: false });
  const newest = useRef(0);
  useEffect(() => {
    newest.current += 1;
    setFound({ models: null, trouble: "", loading: false });
  }, [form.server, view]);
  const find = async () => {
    const number = ++newest.current;
    setFound((now) => ({ ...now, loading: true }));
    const next = await getModels(connectionChanges(form, view)).then(
      (models) => ({ models, trouble: "" }),
      (error) => ({ models: null, trouble: errorWords(error) }),
    );
    if (number === newest.current) setFound({ ...next, loading: false });
  };
  return { ...found, find };
}

// The settings that are switches: each with its field in the form, its label and its note.
const SWITCHES = [
  ["lessons_learn", "learns", "settings-learns", "settings-learns-note"],
  ["library_changes", "asks", "settings-asks", "settings-asks-note"],
];

function Limits({ form, view, fields, edit }) {
  return html`<section class="settings-part" aria-labelledby="settings-limits">
    <h3 class="settings-heading" id="settings-limits">${t("settings-limits")}</h3>
    <p class="run-note">${t("settings-limits-note")}</p>
    ${LIMITS.map(
      ([group, names]) =>
        html`<div
          class="settings-grid"
          key=${group}
          role="group"
          aria-labelledby=${`settings-limits-${group}`}
        >
          <h4 class="eyebrow" id=${`settings-limits-${group}`}>
            ${t(`settings-limits-of-${group}`)}
          </h4>
          ${names.map(
            (name) =>
              html`<${Field}
                key=${name}
                ...${{ name, view, fields }}
                label=${t(`settings-${name}`)}
                note=${t(`settings-${name}-note`)}
              >
                ${(common, fixed) =>
                  html`<input
                    class="input"
                    ...${common}
                    inputmode="decimal"
                    autocomplete="off"
                    maxlength="20"
                    readonly=${fixed}
                    placeholder=${view.defaults[name] ?? t("settings-no-limit")}
                    value=${form[name]}
                    onInput=${({ target }) => edit({ [name]: target.value })}
                  />`}
              <//>`,
          )}
        </div>`,
    )}
    ${SWITCHES.map(
      ([name, key, label, note]) =>
        html`<${Field} key=${name} ...${{ name, view, fields }} label=${t(label)} note=${t(note)}>
          ${(common, fixed) =>
            html`<input
              type="checkbox"
              role="switch"
              class="settings-switch"
              ...${common}
              disabled=${fixed}
              checked=${form[key]}
              onChange=${({ target }) => edit({ [key]: target.checked })}
            />`}
        <//>`,
    )}
  </section>`;
}

// Settings that apply at once, and only in this browser.
function ThisBrowser() {
  const [chosen, setChosen] = useState(themeChoice());
  const choose = (choice) => {
    chooseTheme(choice);
    setChosen(choice);
  };
  const field = (name, value, choices, act) =>
    html`<label class="field"
      >${t(`settings-${name}`)}<${Select}
        class="input"
        data-testid=${`settings-${name}`}
        value=${value}
        options=${choices.map((one) => [one, t(`choice-${name}-${one}`)])}
        choose=${act}
    /></label>`;
  return html`<section class="settings-part" aria-labelledby="settings-browser">
    <h3 class="settings-heading" id="settings-browser">${t("settings-browser")}</h3>
    <p class="run-note">${t("settings-browser-note")}</p>
    <div class="settings-grid">
      ${field("language", languageChoice(), ["system", "en", "de"], chooseLanguage)}
      ${field("theme", chosen, ["system", "light", "dark"], choose)}
    </div>
    <p class="settings-row" data-testid="settings-notices">
      ${
        mayAsk.value
          ? html`<button class="button" onClick=${allowNotices}>
              <${Icon} name="bell" />${t("notices-allow")}
            </button>`
          : html`<span class="run-note">${t(`notices-${noticesState()}`)}</span>`
      }
    </p>
  </section>`;
}

function Elsewhere({ view }) {
  return html`<section class="settings-part" aria-labelledby="settings-elsewhere">
    <h3 class="settings-heading" id="settings-elsewhere">${t("settings-elsewhere")}</h3>
    <p class="run-note">${t("settings-elsewhere-note")}</p>
    <dl class="settings-list" data-testid="settings-elsewhere">
      ${view.elsewhere.map(
        ({ name, variable, value }) =>
          html`<div key=${name}>
            <dt>${t(`settings-of-${name}`)}</dt>
            <dd>
              <code class="settings-value">${value}</code
              ><span class="run-note">${t(`settings-why-${name}`)} <code>${variable}</code></span>
            </dd>
          </div>`,
      )}
    </dl>
  </section>`;
}
