// Teaching a tool by rows of input and output, and editing its code, with the verdict beside it.

import { useEffect, useRef, useState } from "preact/hooks";
import { postEdit, postTeach, postVerdict } from "../../api.js";
import { fieldOf, labelOf } from "../../calling.js";
import { recall, remember } from "../../choices.js";
import { draftOf, passedRows, PAUSE, rowsOf } from "../../editing.js";
import { openConversation } from "../../route.js";
import { html, Icon, t } from "../../view.js";
import { Details, Problem } from "../parts/problem.js";
import { IconButton } from "../parts/controls.js";

const NOTHING = { code: null, rows: [] };
const NEW_ROW = { given: {}, value: "" };

// The newest verdict on what is typed; an older one is cancelled. Null while there is none.
function useVerdict(name, edit) {
  const [verdict, setVerdict] = useState(null);
  const text = JSON.stringify(edit);
  useEffect(() => {
    setVerdict(null);
    if (!edit.code && !edit.rows?.length) return undefined;
    const aborted = new AbortController();
    const timer = setTimeout(() => {
      postVerdict(name, edit, aborted.signal).then(setVerdict, (error) => {
        if (!aborted.signal.aborted)
          setVerdict({ passed: false, problem: error.details || error.message, tests: [] });
      });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [name, text]);
  return verdict;
}

// The browser keeps the typed text until it is saved.
function useDraft(key) {
  const [draft, setDraft] = useState(() => recall(key, NOTHING));
  const keep = (change) => {
    const next = change && { ...draft, ...change };
    remember(key, next);
    setDraft(next ?? NOTHING);
  };
  return [draft, keep];
}

// Of a tool in use, or the code of a proposal.
export function ToolEditor({ tool, proposed = false, done }) {
  const [draft, keep] = useDraft(draftOf(tool.name, proposed));
  const code = draft.code !== null && draft.code !== tool.code ? draft.code : "";
  const { rows, numbers } = rowsOf(tool, draft.rows);
  const edit = { code, rows, ...(proposed && { proposed }) };
  const verdict = useVerdict(tool.name, edit);
  const passed = verdict ? passedRows(verdict, numbers) : {};
  const set = (n, change) =>
    keep({ rows: draft.rows.map((row, at) => (at === n ? { ...row, ...change } : row)) });
  const saved = () => {
    keep(null);
    done();
  };
  const teach = verdict && !verdict.passed && !verdict.problem && !code;
  return html`<div class="tool-editor" data-testid="tool-editor">
    ${
      !proposed &&
      html`<h3 class="eyebrow">${t("teach-title")}</h3>
        <p class="step-note">${t("teach-note")}</p>
        ${draft.rows.map(
          (row, n) =>
            html`<${Row}
              key=${n}
              ...${{ tool, row }}
              number=${n + 1}
              passed=${passed[n]}
              set=${(change) => set(n, change)}
              remove=${() => keep({ rows: draft.rows.filter((_, at) => at !== n) })}
            />`,
        )}
        <button
          class="text-button"
          data-testid="teach-add"
          onClick=${() => keep({ rows: [...draft.rows, NEW_ROW] })}
        >
          <${Icon} name="plus" />${t("teach-add")}
        </button>
        <h3 class="eyebrow">${t("tool-code")}</h3>`
    }
    <${Code}
      name=${tool.name}
      code=${draft.code ?? tool.code}
      set=${(text) => keep({ code: text })}
    />
    <${Outcome} verdict=${verdict} waits=${Boolean(code || rows.length)} />
    <${Saving}
      name=${tool.name}
      ...${{ verdict, saved }}
      save=${() => (teach ? postTeach(tool.name, rows) : postEdit(tool.name, edit))}
      label=${t(teach ? "teach-correct" : "edit-save")}
      ready=${verdict && (verdict.passed || teach)}
    />
  </div>`;
}

const Code = ({ name, code, set }) =>
  html`<textarea
    class="input code-input"
    data-testid="edit-code"
    aria-label=${t("tool-code-of", { name })}
    spellcheck="false"
    autocapitalize="off"
    autocomplete="off"
    rows=${Math.min(30, code.split("\n").length + 1)}
    value=${code}
    onInput=${({ target }) => set(target.value)}
  ></textarea>`;

function Row({ tool, row, number, passed, set, remove }) {
  const state = passed === undefined ? "open" : passed ? "passed" : "failed";
  return html`<fieldset class="teach-row" data-testid="teach-row" data-state=${state}>
    <legend>${t("teach-row", { number })} ${t(`teach-${state}`)}</legend>
    ${tool.parameters.map(
      (p) =>
        html`<label class="field" key=${p.name}
          ><span title=${p.name}>${labelOf(p.name)}</span
          ><${Entry}
            field=${fieldOf(p, tool.input_schema.properties[p.name])}
            name=${p.name}
            preset=${p.default}
            value=${row.given[p.name]}
            set=${(value) => set({ given: { ...row.given, [p.name]: value } })}
        /></label>`,
    )}
    <label class="field"
      >${t("teach-value")}<input
        class="input"
        data-testid="teach-value"
        value=${row.value}
        onInput=${({ target }) => set({ value: target.value })}
    /></label>
    <${IconButton} icon="cross" label=${t("teach-remove", { number })} onClick=${remove} />
  </fieldset>`;
}

function Entry({ field, name, preset, value, set }) {
  const common = { "data-testid": `teach-${name}` };
  if (field.kind === "switch")
    return html`<input
      type="checkbox"
      role="switch"
      ...${common}
      checked=${value ?? preset === "True"}
      onChange=${({ target }) => set(target.checked)}
    />`;
  if (field.kind === "choice")
    return html`<select
      class="select"
      ...${common}
      value=${value ?? ""}
      onChange=${({ target }) => set(target.value)}
    >
      <option value=""></option>
      ${field.options.map((option, n) => html`<option key=${n} value=${n}>${option}</option>`)}
    </select>`;
  return html`<input
    class="input"
    ...${common}
    placeholder=${preset ?? ""}
    value=${value ?? ""}
    onInput=${({ target }) => set(target.value)}
  />`;
}

function Outcome({ verdict, waits }) {
  const failed = verdict?.tests?.filter(({ outcome }) => outcome !== "passed") ?? [];
  const state = !waits ? "nothing" : !verdict ? "checking" : verdict.passed ? "passed" : "failed";
  const words = {
    nothing: "edit-nothing",
    checking: "edit-checking",
    passed: "edit-passed",
    failed: verdict?.problem ? "edit-problem" : "edit-failed",
  }[state];
  return html`<div
    class="edit-verdict"
    role="status"
    data-testid="edit-verdict"
    data-state=${state}
  >
    <p>${t(words, { count: verdict?.tests?.length ?? 0, failed: failed.length })}</p>
    ${verdict?.problem && html`<${Details} text=${verdict.problem} />`}
    ${failed.map(
      ({ test, message }) =>
        html`<p class="step-note" key=${test}>
          <code>${test}</code> ${message.replace(/\s*\n\s*/g, " ")}
        </p>`,
    )}
  </div>`;
}

function Saving({ name, save, label, ready, saved }) {
  const [state, setState] = useState({}); // {busy, problem, told}
  const mounted = useRef(true);
  useEffect(() => () => (mounted.current = false), []);
  const press = async () => {
    setState({ busy: true });
    try {
      const { version, waits, turn } = await save();
      saved();
      if (turn) openConversation(turn.conversation_id);
      const told = t(waits ? "edit-waits" : "edit-saved", { name, version: `${version}` });
      if (mounted.current) setState(turn ? {} : { told });
    } catch (problem) {
      if (mounted.current) setState({ problem });
    }
  };
  const { busy, problem, told } = state;
  return html`${
      problem &&
      html`<${Problem} testid="edit-refused" title=${t("tool-not-possible")} ...${problem} />`
    }
    <p role="status" data-testid="edit-told">${busy ? t("edit-saving") : told}</p>
    <button
      class="button primary"
      data-testid="edit-save"
      disabled=${!ready || busy}
      onClick=${press}
    >
      ${label}
    </button>`;
}
