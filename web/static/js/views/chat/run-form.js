// A tool run by hand: a form from its signature, and the turn's result in place.

import { useId, useState } from "preact/hooks";
import { argumentsOf, fieldOf, initial } from "../../calling.js";
import { run } from "../../connection.js";
import { duration, sentence } from "../../format.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { Markdown } from "../../markdown.js";
import { store } from "../../store.js";
import { t } from "../../texts.js";
import { MadeFiles } from "../values/files.js";
import { LongResults } from "./result.js";

// `given`: what the fields hold at first, by name.
export function RunForm({
  tool: {
    name,
    parameters,
    input_schema: { properties: schema },
  },
  given = {},
}) {
  const [entries, setEntries] = useState(given);
  const [files, setFiles] = useState({});
  const [problems, setProblems] = useState({});
  const [begun, setBegun] = useState(null);
  const [sent, setSent] = useState(false);
  const send = async (event) => {
    event.preventDefault();
    const read = argumentsOf(parameters, schema, entries);
    setProblems(read.problems);
    if (Object.keys(read.problems).length > 0) return;
    setSent(true);
    const named = Object.entries(files).filter(([p, file]) => entries[p] === file.name);
    const reply = await run(name, read.given, [...new Set(named.map(([, file]) => file))]);
    setSent(false);
    if (reply) setBegun(reply);
  };
  const turn = begun && store.value.threads[begun.conversation_id]?.turns[begun.turn_id];
  const busy = sent || turn?.state === "running";
  const set = (parameter, value) => setEntries((now) => ({ ...now, [parameter]: value }));
  const pick = (parameter, file) => {
    setFiles((now) => ({ ...now, [parameter]: file }));
    set(parameter, file.name);
  };
  return html`<form
    class="run-form"
    data-testid="run-form"
    aria-label=${t("run-label", { name })}
    onSubmit=${send}
  >
    ${parameters.map(
      (p) =>
        html`<${Field}
          key=${p.name}
          parameter=${p}
          field=${fieldOf(p, schema[p.name])}
          entry=${entries[p.name]}
          problem=${problems[p.name]}
          set=${set}
          pick=${pick}
        />`,
    )}
    <div class="form-actions">
      <button type="submit" class="button primary" data-testid="run" disabled=${busy}>
        <${Icon} name="play" />${t("run-run")}
      </button>
    </div>
    <div aria-live="polite">
      ${begun && html`<${Result} turn=${turn} conversationId=${begun.conversation_id} />`}
    </div>
  </form>`;
}

function Field({ parameter, field, entry, problem, set, pick }) {
  const { name, annotation, description, default: preset } = parameter;
  const note = preset == null ? annotation : t("run-type-default", { type: annotation, preset });
  const about = useId(); // the form may be there twice, in a turn and at the tool
  const common = {
    name,
    "data-testid": `run-${name}`,
    "aria-describedby": about,
    "aria-invalid": problem ? "true" : null,
  };
  const filled = entry ?? initial(parameter, field);
  const changed = ({ target }) => set(name, target.value);
  return html`<div class="run-field">
    ${
      field.kind === "switch"
        ? html`<label class="check"
            ><input
              type="checkbox"
              role="switch"
              ...${common}
              checked=${filled}
              onChange=${({ target }) => set(name, target.checked)}
            /><code>${name}</code></label
          >`
        : html`<label class="field"
            ><code>${name}</code
            ><${Entry}
              field=${field}
              filled=${filled}
              preset=${preset}
              common=${common}
              changed=${changed}
          /></label>`
    }
    ${
      field.kind === "file" &&
      html`<label class="field"
        >${t("run-or-file")}<input
          type="file"
          data-testid=${`run-${name}-file`}
          onChange=${({ target }) => target.files[0] && pick(name, target.files[0])}
      /></label>`
    }
    <p class="run-note" id=${about}>
      ${
        problem && html`<span class="run-problem" role="alert">${problem} </span>`
      }${description && `${description} `}<span class="muted">${note}</span>
    </p>
  </div>`;
}

function Entry({ field, filled, preset, common, changed }) {
  switch (field.kind) {
    case "choice":
      return html`<select class="input" ...${common} value=${filled} onChange=${changed}>
        <option value="">${preset == null ? t("run-choose") : t("run-default", { preset })}</option>
        ${field.options.map(
          (option, n) => html`<option key=${n} value=${String(n)}>${String(option)}</option>`,
        )}
      </select>`;
    case "number":
      return html`<input
        class="input"
        type="number"
        step=${field.step}
        placeholder=${preset}
        ...${common}
        value=${filled}
        onInput=${changed}
      />`;
    case "json":
      return html`<textarea
        class="input editor"
        rows="2"
        spellcheck="false"
        placeholder=${preset ?? "JSON"}
        ...${common}
        value=${filled}
        onInput=${changed}
      ></textarea>`;
    case "file":
      return html`<input
        class="input"
        autocomplete="off"
        spellcheck="false"
        placeholder=${preset}
        ...${common}
        value=${filled}
        onInput=${changed}
      />`;
    default:
      return html`<textarea
        class="input"
        rows="1"
        spellcheck="false"
        placeholder=${preset}
        ...${common}
        value=${filled}
        onInput=${changed}
      ></textarea>`;
  }
}

function Result({ turn, conversationId }) {
  if (!turn || turn.state === "running")
    return html`<p class="run-note">
      <span class="spinner" role="img" aria-label=${t("state-running")}></span>
    </p>`;
  const { state, answer, failure, stopReason, made, seconds } = turn;
  return html`<section
    class="run-result"
    data-testid="run-result"
    data-state=${state}
    aria-label=${t("execution-result")}
  >
    ${
      answer
        ? html`<${Markdown} text=${answer} />`
        : html`<p>
            ${[failure?.message, failure?.remedy, stopReason]
              .filter(Boolean)
              .map(sentence)
              .join(" ")}
          </p>`
    }
    <${LongResults} turn=${turn} conversationId=${conversationId} />
    <${MadeFiles} files=${made} conversationId=${conversationId} />
    <p class="run-note">${t("run-done", { time: duration(seconds) })}</p>
  </section>`;
}
