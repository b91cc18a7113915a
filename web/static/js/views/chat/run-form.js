// A tool run by hand: a form from its signature, and the turn's result in place.

import { useEffect, useId, useState } from "preact/hooks";
import { causeOf } from "../../cause.js";
import { argumentsOf, fieldOf, initial, labelOf, typeWords } from "../../calling.js";
import { run } from "../../connection.js";
import { duration, stepWords } from "../../format.js";
import { Markdown } from "../../markdown.js";
import { html, Icon, Spinner, store, t } from "../../view.js";
import { MadeFiles } from "../values/files.js";
import { LongResults } from "./result.js";
import { Check, Select } from "../parts/controls.js";
import { Problem } from "../parts/problem.js";

// Entries in the forms, while the page is open, by place and tool.
const kept = new Map();

// `given`: what the fields hold at first, by name; `place`: where it is.
export function RunForm({
  place = "",
  tool: {
    name,
    parameters,
    input_schema: { properties: schema },
  },
  given = {},
}) {
  const key = `${place} ${name}`;
  const [form, setForm] = useState(kept.get(key) ?? { entries: given, files: {}, begun: null });
  const [problems, setProblems] = useState({});
  const [sent, setSent] = useState(false);
  const { entries, files, begun } = form;
  useEffect(() => void kept.set(key, form), [key, form]);
  const send = async (event) => {
    event.preventDefault();
    const read = argumentsOf(parameters, schema, entries);
    setProblems(read.problems);
    if (Object.keys(read.problems).length > 0) return;
    setSent(true);
    const named = Object.entries(files).filter(([p, file]) => file && entries[p] === file.name);
    const reply = await run(name, read.given, [...new Set(named.map(([, file]) => file))]);
    setSent(false);
    if (reply) setForm((now) => ({ ...now, begun: reply }));
  };
  const turn = begun && store.value.threads[begun.conversation_id]?.turns[begun.turn_id];
  const busy = sent || turn?.state === "running";
  const set = (parameter, value, file = files[parameter]) =>
    setForm(({ entries, files, ...now }) => ({
      ...now,
      entries: { ...entries, [parameter]: value },
      files: { ...files, [parameter]: file },
    }));
  const pick = (parameter, file) => set(parameter, file.name, file);
  return html`<form
    class="run-form"
    data-testid="run-form"
    aria-label=${t("run-label", { name })}
    onSubmit=${send}
  >
    <${Fields} ...${{ parameters, schema, entries, problems, set, pick }} />
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

// A field for each parameter. `place` tells forms with the same parameters apart.
export const Fields = ({ parameters, schema, entries, problems, ...rest }) =>
  parameters.map(
    (p) =>
      html`<${Field}
        key=${p.name}
        parameter=${p}
        field=${fieldOf(p, schema[p.name])}
        entry=${entries[p.name]}
        problem=${problems[p.name]}
        ...${rest}
      />`,
  );

function Field({ parameter, field, entry, problem, place = "run", set, pick }) {
  const { name, annotation, description, default: preset } = parameter;
  const type = typeWords(field, annotation);
  const note = preset == null ? type : t("run-type-default", { type, preset });
  const about = useId(); // the form may be there twice, in a turn and at the tool
  const common = {
    name,
    "data-testid": `${place}-${name}`,
    "aria-describedby": about,
    "aria-invalid": problem ? "true" : null,
  };
  const filled = entry ?? initial(parameter, field);
  const changed = ({ target }) => set(name, target.value);
  return html`<div class="run-field">
    ${
      field.kind === "switch"
        ? html`<${Check}
            role="switch"
            ...${common}
            checked=${filled}
            set=${(checked) => set(name, checked)}
            label=${html`<span title=${name}>${labelOf(name)}</span>`}
          />`
        : html`<label class="field"
            ><span title=${name}>${labelOf(name)}</span
            ><${Entry} ...${{ field, filled, preset, common, changed }}
          /></label>`
    }
    ${
      field.kind === "file" &&
      html`<label class="field"
        >${t("run-or-file")}<input
          type="file"
          data-testid=${`${place}-${name}-file`}
          onChange=${({ target }) => target.files[0] && pick(name, target.files[0])}
      /></label>`
    }
    <p class="run-note" id=${about}>
      ${
        problem && html`<span class="run-problem" role="alert">${problem} </span>`
      }${description && `${description} `}<span class="muted"
        >${description ? `(${note})` : note}</span
      >
    </p>
  </div>`;
}

function Entry({ field: { kind, step, options }, filled, preset, common, changed }) {
  if (kind === "choice") {
    const none = preset == null ? t("run-choose") : t("run-default", { preset });
    const all = [["", none], ...options.map((option, n) => [String(n), String(option)])];
    const choose = (value) => changed({ target: { value } });
    return html`<${Select}
      class="input"
      options=${all}
      value=${filled}
      choose=${choose}
      ...${common}
    />`;
  }
  const written = { autocomplete: "off", spellcheck: "false", placeholder: preset, ...common };
  const entry = { ...written, value: filled, onInput: changed };
  if (kind === "number")
    return html`<input class="input" type="number" step=${step} ...${entry} />`;
  if (kind === "file") return html`<input class="input" ...${entry} />`;
  if (kind === "text") return html`<textarea class="input" rows="1" ...${entry}></textarea>`;
  entry.placeholder ??= "JSON";
  return html`<textarea class="input editor" rows="2" ...${entry}></textarea>`;
}

function Result({ turn, conversationId }) {
  if (!turn || turn.state === "running")
    return html`<p class="run-note">
      <${Spinner} label=${t("state-running")} />
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
        : failure
          ? html`<${Problem} title=${causeOf(turn)} markdown=${true} ...${failure} />`
          : html`<p>${stepWords("turn_stopped")}. ${stopReason}</p>`
    }
    <${LongResults} turn=${turn} conversationId=${conversationId} />
    <${MadeFiles} files=${made} conversationId=${conversationId} />
    <p class="run-note">${t("run-done", { time: duration(seconds) })}</p>
  </section>`;
}
