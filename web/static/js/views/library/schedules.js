// The schedules of a tool: when it runs without anybody, what the last runs came to, and a form for another one.

import { useEffect, useId, useState } from "preact/hooks";
import { call, postFile } from "../../api.js";
import { argumentsOf } from "../../calling.js";
import { choicesOf, cronOf, DAYS, DELIVERS, EVERY, planOf } from "../../cron.js";
import { Loading } from "../../lazy.js";
import { Markdown } from "../../markdown.js";
import { openConversation } from "../../route.js";
import { locale } from "../../texts.js";
import { html, Icon, t } from "../../view.js";
import { Fields } from "../chat/run-form.js";
import { Nothing, Select } from "../parts/controls.js";
import { Confirm } from "../parts/confirm.js";
import { ErrorWords, Problem } from "../parts/problem.js";

const AGAIN = 1000; // milliseconds before a run that goes on is asked for again
const ROUTE = "/api/v1/schedules";
const pathOf = ({ id }) => `${ROUTE}/${encodeURIComponent(id)}`;
const PLACE = "schedule";
const EXAMPLE = "0 8 * * mon";
const INBOX = "/srv/inbox";
const KEY = "HOOK_KEY";
const hookOf = ({ id }) => `POST /hooks/${id}`;
const FIELDS = "\\s*(@[a-z]+|\\S+(\\s+\\S+){4,5})\\s*";
const MISSED = ["once", "skip", "all"];
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = Intl.supportedValuesOf?.("timeZone") ?? [];

export function Schedules({ tool }) {
  const [{ schedules, problem }, setState] = useState({});
  const load = () =>
    call("GET", `${ROUTE}?${new URLSearchParams({ tool: tool.name })}`).then(
      ({ schedules }) => setState({ schedules }),
      (problem) => setState((now) => ({ ...now, problem })),
    );
  const change = (method, path) =>
    call(method, path).then(load, (problem) => setState((now) => ({ ...now, problem })));
  useEffect(() => void load(), [tool.name]);
  useEffect(() => {
    if (!schedules?.some(({ run }) => run)) return undefined;
    const timer = setTimeout(load, AGAIN);
    return () => clearTimeout(timer);
  }, [schedules]);
  if (!schedules && !problem) return html`<${Loading} />`;
  return html`<div class="overview">
    <div class="overview-part" data-testid="schedules">
      ${problem && html`<${Problem} title=${t("tool-not-possible")} ...${problem} />`}
      ${
        schedules?.length === 0 &&
        html`<${Nothing} icon="clock" title=${t("schedules-none")} text=${t("schedules-about")} />`
      }
      ${schedules?.map((one) => html`<${Schedule} key=${one.id} schedule=${one} change=${change} />`)}
    </div>
    <div class="overview-part">
      <h3 class="eyebrow">${t("schedules-new")}</h3>
      <${NewSchedule} tool=${tool} done=${load} />
    </div>
  </div>`;
}

function Schedule({ schedule, change }) {
  const { name, version, state, reason, run, last, troubled, conversation_id: id } = schedule;
  const paused = state === "paused";
  const timed = !paused && schedule.upcoming.length > 0;
  const shown = run ? "running" : troubled ? "troubled" : state;
  const act = (verb) => change("POST", `${pathOf(schedule)}/${verb}`);
  return html`<article
    class="version"
    aria-label=${name}
    data-testid="schedule"
    data-state=${shown}
  >
    <div class="version-head">
      <h3 class="version-title">${name}</h3>
      <span
        class="badge"
        data-standing=${shown === "troubled" ? "suspect" : shown === "active" ? "trusted" : null}
        >${t(`schedule-${shown}`)}</span
      >
    </div>
    <p class="schedule-when">
      ${whenWords(schedule)}${" "}
      <span class="muted">· ${t("version-option", { number: `${version}` })}</span>
    </p>
    ${schedule.deliver && html`<p class="muted">${deliverWords(schedule)}</p>`}
    ${schedule.hook && html`<p class="muted"><code>${hookOf(schedule)}</code></p>`}
    ${
      troubled &&
      html`<${Problem}
        tone="warn"
        testid="schedule-problem"
        title=${t("schedule-needs-you")}
        message=${reason}
      />`
    }
    <dl class="facts">
      ${timed && html`<dt>${t("schedule-next")}</dt>`}
      ${
        timed &&
        html`<dd>
          ${schedule.upcoming.map(
            (at) =>
              html`<span class="schedule-time" key=${at}>${timeIn(at, schedule.timezone)}</span>`,
          )}
        </dd>`
      }
      ${
        last &&
        html`<dt>${t("schedule-last")}</dt>
          <dd data-testid="schedule-last">
            ${timeIn(last.ended_at, schedule.timezone)}
            ${!last.problem && last.text && html`<${Markdown} text=${last.text} />`}
          </dd>`
      }
    </dl>
    <div class="form-actions">
      <button
        class="button"
        data-testid="schedule-run"
        disabled=${run !== ""}
        onClick=${() => act("run")}
      >
        <${Icon} name="play" />${t("schedule-run")}
      </button>
      <button
        class="button"
        data-testid="schedule-pause"
        onClick=${() => act(paused ? "resume" : "pause")}
      >
        ${t(paused ? "schedule-resume" : "schedule-pause")}
      </button>
      <button class="button" data-testid="schedule-results" onClick=${() => openConversation(id)}>
        <${Icon} name="chat" />${t("schedule-results")}
      </button>
      <${Confirm}
        label=${t("schedule-remove")}
        about=${name}
        question=${t("schedule-remove-question")}
        act=${() => change("DELETE", pathOf(schedule))}
        testid="schedule-remove"
      />
    </div>
  </article>`;
}

function NewSchedule({ tool, done }) {
  const {
    name,
    parameters,
    input_schema: { properties: schema },
  } = tool;
  const [form, setForm] = useState({
    every: "week",
    time: "08:00",
    weekday: 1,
    day: 1,
    cron: "",
    timezone: here,
    missed: "once",
    name: "",
    hook: "",
    folder: "",
    pattern: "*",
    deliver: "",
  });
  const [entries, setEntries] = useState({});
  const [files, setFiles] = useState({});
  const [problems, setProblems] = useState({});
  const [unknown, setUnknown] = useState(false);
  const [refused, setRefused] = useState(null);
  const [sent, setSent] = useState(false);
  const zones = useId();
  const set = (field, value) => setForm((now) => ({ ...now, [field]: value }));
  const enter = (parameter, value) => setEntries((now) => ({ ...now, [parameter]: value }));
  const pick = (parameter, file) => {
    setFiles((now) => ({ ...now, [parameter]: file }));
    enter(parameter, file.name);
  };
  const send = async (event) => {
    event.preventDefault();
    const lacking = byEvent(form)
      ? parameters.filter(({ name }) => (entries[name] ?? "") === "")
      : [];
    const fixed = parameters.filter((p) => !lacking.includes(p));
    const read = argumentsOf(fixed, schema, entries); // what runs bring may be missing
    setProblems(read.problems);
    setUnknown(!isZone(form.timezone));
    if (Object.keys(read.problems).length > 0 || !isZone(form.timezone)) return;
    setSent(true);
    try {
      const named = Object.entries(files).filter(([p, file]) => entries[p] === file.name);
      const ids = await Promise.all(named.map(([, file]) => postFile(file.name, file)));
      const { timezone, missed } = form;
      await call("POST", ROUTE, {
        tool: name,
        name: form.name,
        arguments: read.given,
        files: ids,
        timezone,
        missed,
        ...planOf(form),
      });
      setRefused(null);
      set("name", "");
      await done();
    } catch (error) {
      setRefused(error);
    }
    setSent(false);
  };
  const typed = (field, preset = "") => ({
    name: field,
    value: form[field] ?? preset,
    "data-testid": `schedule-${field}`,
    onInput: ({ target }) => set(field, target.value),
  });
  return html`<form
    class="run-form"
    data-testid="schedule-form"
    aria-label=${t("schedules-new")}
    onSubmit=${send}
  >
    <div class="settings-grid">
      <label class="field"
        >${t("schedule-every")}<${Select}
          class="input"
          data-testid="schedule-every"
          options=${[...EVERY, "file", "hook"].map((one) => [one, t(`schedule-every-${one}`)])}
          value=${form.every}
          choose=${(every) => set("every", every)}
      /></label>
      ${
        form.every === "week" &&
        html`<label class="field"
          >${t("schedule-weekday")}<${Select}
            class="input"
            options=${[1, 2, 3, 4, 5, 6, 0].map((one) => [one, weekdayName(one)])}
            value=${form.weekday}
            choose=${(weekday) => set("weekday", weekday)}
        /></label>`
      }
      ${
        form.every === "month" &&
        html`<label class="field"
          >${t("schedule-day")}<input
            class="input"
            type="number"
            min="1"
            max="31"
            required
            ...${typed("day")}
        /></label>`
      }
      <${Trigger} ...${{ form, typed }} />
      ${
        !byEvent(form) &&
        html`<label class="field"
            >${t("schedule-timezone")}<input
              class="input"
              required
              list=${zones}
              aria-invalid=${unknown ? "true" : null}
              aria-describedby=${unknown ? `${zones}-problem` : null}
              autocomplete="off"
              spellcheck="false"
              ...${typed("timezone")}
            /><datalist id=${zones}>
              ${ZONES.map((zone) => html`<option key=${zone} value=${zone} />`)}
            </datalist>
            ${
              unknown &&
              html`<span class="run-problem" role="alert" id=${`${zones}-problem`}
                >${t("schedule-timezone-unknown")}</span
              >`
            }</label
          >
          <label class="field"
            >${t("schedule-missed")}<${Select}
              class="input"
              options=${MISSED.map((one) => [one, t(`schedule-missed-${one}`)])}
              value=${form.missed}
              choose=${(missed) => set("missed", missed)}
          /></label>`
      }
      <label class="field"
        >${t("schedule-name")}<input
          class="input"
          maxlength="80"
          placeholder=${name}
          autocomplete="off"
          ...${typed("name")}
      /></label>
    </div>
    <${Deliver} ...${{ form, set, typed }} />
    <${Fields} ...${{ parameters, schema, entries, problems, pick }} place=${PLACE} set=${enter} />
    ${
      refused &&
      html`<p class="run-problem" role="alert" data-testid="schedule-refused">
        <${ErrorWords} error=${refused} />
      </p>`
    }
    <div class="form-actions">
      <button type="submit" class="button primary" data-testid="schedule-add" disabled=${sent}>
        <${Icon} name="clock" />${t("schedule-add")}
      </button>
    </div>
  </form>`;
}

const byEvent = ({ every }) => every === "file" || every === "hook";

// What begins runs, beside the day.
function Trigger({ form: { every }, typed }) {
  if (every === "file")
    return html`<label class="field"
        >${t("schedule-folder")}<${Written} ...${typed("folder")} required placeholder=${INBOX}
      /></label>
      <label class="field"
        >${t("schedule-pattern")}<${Written} ...${typed("pattern")} required
      /></label>`;
  if (every === "hook")
    return html`<label class="field"
      >${t("schedule-hook")}<${Written} ...${typed("hook")} required placeholder=${KEY}
    /></label>`;
  if (every === "cron")
    return html`<label class="field"
      >${t("schedule-cron")}<${Written}
        ...${typed("cron")}
        required
        placeholder=${EXAMPLE}
        pattern=${FIELDS}
    /></label>`;
  return html`<label class="field"
    >${t("schedule-time")}<input class="input" type="time" required ...${typed("time")}
  /></label>`;
}

// Where results go beside the conversation.
function Deliver({ form: { deliver }, set, typed }) {
  return html`<div class="settings-grid">
    <label class="field"
      >${t("schedule-deliver")}<${Select}
        class="input"
        data-testid="schedule-deliver"
        options=${["", "folder", "webhook", "mail"].map((one) => [
          one,
          t(`schedule-deliver-${one || "none"}`),
        ])}
        value=${deliver}
        choose=${(kind) => set("deliver", kind)}
    /></label>
    ${
      deliver === "folder" &&
      html`<label class="field"
        >${t("schedule-form")}<${Select}
          class="input"
          options=${["json", "csv", "text"].map((one) => [one, one.toUpperCase()])}
          ...${typed("form", "json")}
          choose=${(form) => set("form", form)}
      /></label>`
    }
    ${(DELIVERS[deliver] ?? []).map(
      ([field, type, needed]) =>
        html`<label class="field" key=${field}
          >${t(`schedule-${field}`)}<${Written} ...${typed(field)} type=${type} required=${needed}
        /></label>`,
    )}
  </div>`;
}

const Written = (attributes) =>
  html`<input class="input" autocomplete="off" spellcheck="false" ...${attributes} />`;

function isZone(timeZone) {
  try {
    return Boolean(new Intl.DateTimeFormat(locale, { timeZone }));
  } catch {
    return false;
  }
}

// When it runs, in words where the form has them.
function whenWords({ cron, timezone, watch }) {
  if (!cron && watch) return t("schedule-when-file", watch);
  if (!cron) return t("schedule-when-hook");
  const { every, time, weekday, day } = choicesOf(cron);
  const values = { every, time, weekday: DAYS[weekday] ?? "", day: `${day}`, cron, timezone };
  return t("schedule-times", { ...values, minute: time?.slice(3) });
}

const deliverWords = ({ name, deliver: { kind, url, to } }) =>
  t(`schedule-delivered-${kind}`, { name, to: url ?? to ?? "" });

// 7 January 2024 was a Sunday.
const weekdayName = (day) =>
  new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" }).format(
    new Date(Date.UTC(2024, 0, 7 + Number(day))),
  );

// A moment as a clock in the schedule's time zone shows it.
function timeIn(moment, timeZone) {
  const style = {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  };
  const zone = isZone(timeZone) ? { timeZone } : {};
  return new Intl.DateTimeFormat(locale, { ...style, ...zone }).format(new Date(moment));
}
