// The components, each in its states, beside each other in the light and in the dark theme. In
// English: it is for those who work on the page.

import { newFeed, viewOf } from "/static/js/feed.js";
import { html } from "/static/js/html.js";
import { Icon, ICON_NAMES, Mark, StateIcon } from "/static/js/icons.js";
import { addRecords, emptyThread, turnsOf } from "/static/js/thread.js";
import { Badge } from "/static/js/views/library/tool-menus.js";
import { Banner, SettingUp } from "/static/js/views/frame/banner.js";
import { Changes } from "/static/js/views/values/changes.js";
import { Chart } from "/static/js/views/values/chart.js";
import { CodeBlock } from "/static/js/views/values/code.js";
import { Confirm } from "/static/js/views/parts/confirm.js";
import { Disclosure } from "/static/js/views/parts/disclosure.js";
import { AttachedFiles, RequestFiles } from "/static/js/views/values/files.js";
import { Pending } from "/static/js/views/chat/pending.js";
import { Problem } from "/static/js/views/parts/problem.js";
import { Answered, Questions } from "/static/js/views/chat/questions.js";
import { Steps } from "/static/js/views/activity/steps.js";
import { tabPanel, Tabs } from "/static/js/views/parts/tabs.js";
import { TurnView } from "/static/js/views/chat/turn.js";
import { Value } from "/static/js/views/values/value.js";

const nothing = () => {};
const CODE = `def count_vowels(text: str) -> int:
    """Count the vowels of a text."""
    return sum(character in "aeiou" for character in text.lower())
`;
const BEFORE = CODE.replace(".lower()", "");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"];
const SERIES = [
  { name: "revenue", values: [124, 118, 139, 152, 147, 168] },
  { name: "costs", values: [98, 95, 101, null, 103, 109] },
];

const QUESTIONS = [
  { id: "unit", question: "Which unit?", why: "The result is in it.", answer: "choice" },
  { id: "digits", question: "How many digits?", answer: "number", default: "2" },
  { id: "sure", question: "Round it?", answer: "yes_no" },
].map((question) => ({ options: ["metre", "foot"], ...question }));
const ANSWERS = [
  { id: "unit", value: "foot" },
  { id: "digits", value: "2" },
  { id: "sure", value: "yes" },
];
const ROWS = MONTHS.map((month, n) => ({ month, revenue: SERIES[0].values[n] }));

const COLOURS = ["page", "surface", "sunken", "hover", "line", "line-strong", "ink", "ink-soft"]
  .concat(["ink-faint", "accent", "accent-strong", "accent-wash", "good", "good-wash"])
  .concat(["bad", "bad-wash", "warn", "warn-wash"]);
const TEXTS = ["xs", "s", "m", "l", "xl", "2xl"];
const SPACES = [1, 2, 3, 4, 5, 6, 7, 8, 9];

const tokens = [
  [
    "Colours",
    () =>
      COLOURS.map(
        (name) =>
          html`<span class="gallery-colour"
            ><i style=${{ background: `var(--${name})` }}></i>${name}</span
          >`,
      ),
  ],
  [
    "Type",
    () =>
      TEXTS.map(
        (name) =>
          html`<p style=${{ fontSize: `var(--text-${name})` }}>text-${name} · Grüße, 0123</p>`,
      ),
  ],
  [
    "Space",
    () =>
      SPACES.map(
        (n) =>
          html`<span class="gallery-colour"
            ><i style=${{ background: "var(--accent)", width: `var(--space-${n})` }}></i>${n}</span
          >`,
      ),
  ],
];

const controls = [
  [
    "Buttons",
    () =>
      html`<button class="button primary">Primary</button><button class="button">Button</button>
        <button class="button quiet">Quiet</button><button class="button" disabled>Disabled</button>
        <button class="icon-button" aria-label="Settings"><${Icon} name="search" /></button>
        <button class="icon-button small" aria-label="Copy"><${Icon} name="copy" /></button>
        <button class="text-button">Text<${Icon} name="chevronRight" /></button>
        <button class="tool-link"><${Icon} name="tool" />count_vowels</button>
        <button class="jump"><${Icon} name="arrowDown" />Latest</button>`,
  ],
  [
    "Fields",
    () =>
      html`<label class="field">Name<input class="input" placeholder="word-counter" /></label>
        <label class="field">Goal<textarea class="input" rows="2">Counts words</textarea></label>
        <label class="field"
          >Ends<select class="input">
            <option>in 7 days</option>
          </select></label
        >
        <label class="check"><input type="checkbox" checked />Ask before each step</label>`,
  ],
  [
    "Icons",
    () =>
      html`<span class="gallery-icons"
        ><${Mark} />${ICON_NAMES.map(
          (name) => html`<span title=${name}><${Icon} name=${name} /></span>`,
        )}</span
      >`,
  ],
  [
    "States",
    () =>
      ["running", "done", "failed", "stopped", "declined"].map(
        (state) =>
          html`<span class="state" data-state=${state}
            ><${StateIcon} state=${state} />${state}</span
          >`,
      ),
  ],
  [
    "Badges",
    () =>
      ["provisional", "trusted", "retired"].map(
        (standing) => html`<${Badge} standing=${standing} />`,
      ),
  ],
  [
    "Tabs",
    (side) =>
      html`<${Tabs}
          id=${`gallery-${side}`}
          label="Views"
          tabs=${[
            { id: "code", label: "Code" },
            { id: "tests", label: "Tests", count: 6 },
          ]}
          selected="code"
          select=${nothing}
        />
        <div ...${tabPanel(`gallery-${side}`, "code")}>Code</div>`,
  ],
  [
    "Menu",
    () =>
      html`<div class="menu" role="menu" aria-label="Actions">
        <button type="button" role="menuitem" class="menu-item">
          <${Icon} name="pencil" />Rename
        </button>
        <button type="button" role="menuitem" class="menu-item">
          <${Icon} name="trash" />Delete
        </button>
      </div>`,
  ],
  ["Disclosure", () => html`<${Disclosure} label="Why">Because it was asked for.<//>`],
  [
    "Confirmation",
    () =>
      html`<${Confirm}
        label="Retire"
        question="Retire reverse_text? It won’t be offered until you restore it."
        act=${nothing}
      />`,
  ],
];

const messages = [
  ["Connection", () => html`<${Banner} connection="reconnecting" />`],
  ["Connection refused", () => html`<${Banner} connection="refused" />`],
  [
    "Notice",
    () =>
      html`<${Banner}
        notice=${{ message: "The lesson was not changed.", remedy: "Check that the server runs." }}
      />`,
  ],
  [
    "Setting up",
    () =>
      html`<${SettingUp}
        unready=${[
          { part: "search", state: "working", detail: "" },
          { part: "tools", state: "failed", detail: "the folder can’t be written" },
        ]}
      />`,
  ],
  [
    "Error",
    () =>
      html`<${Problem}
        title="The tool raised ValueError"
        message="\`part\` must not be negative"
        remedy="Ask with another value."
        ><button class="button">Try again</button><//
      >`,
  ],
  ["Stopped", () => html`<${Problem} tone="warn" title="Stopped" message="Stopped on request." />`],
  [
    "Declined",
    () =>
      html`<${Problem}
        tone="calm"
        title="I can’t do this yet"
        message="I have **no recipe** for it."
        markdown=${true}
      />`,
  ],
  [
    "Empty state",
    () =>
      html`<div class="nothing">
        <${Icon} name="book" />
        <p class="nothing-title">No tools yet</p>
        <p>The first request that needs one adds it here.</p>
      </div>`,
  ],
];

const request = (more) => ({ key: "k", text: "Count the vowels", files: [], ...more });
const refused = { message: "The server did not answer.", remedy: "Check that it runs." };

const asked = [
  [
    "Questions",
    (side) =>
      html`<${Questions} turnId=${side} questions=${QUESTIONS} intro="Three things first." />`,
  ],
  ["Answered questions", () => html`<${Answered} questions=${QUESTIONS} answers=${ANSWERS} />`],
  [
    "Attached files",
    () =>
      html`<${AttachedFiles} files=${[{ key: "a", name: "sales.csv", size: 4096 }]} draft="" />`,
  ],
  ["Sent files", () => html`<${RequestFiles} files=${[{ name: "sales.csv" }]} />`],
  [
    "Requests on their way",
    () =>
      html`<ol class="turns">
        <${Pending} pending=${request()} />
        <${Pending} pending=${request()} waits />
        <${Pending} pending=${request({ error: refused })} />
      </ol>`,
  ],
];

const values = [
  [
    "Number",
    () =>
      html`<section class="value">
        <${Value} value=${1234567.891} number shape="Number" name="n" />
      </section>`,
  ],
  [
    "Text",
    () =>
      html`<section class="value">
        <${Value} value=${"Ada wrote it. ".repeat(120)} shape="Text" name="t" />
      </section>`,
  ],
  [
    "Table",
    () =>
      html`<section class="value">
        <${Value} value=${ROWS} shape="Table, 6 rows" name="r" wide />
      </section>`,
  ],
  [
    "Tree",
    () =>
      html`<section class="value">
        <${Value}
          value=${{ order: 4711, customer: { name: "Ada", tags: ["new"] } }}
          shape="Object"
          name="o"
          wide
        />
      </section>`,
  ],
  ["Code", () => html`<${CodeBlock} code=${CODE} label="count_vowels" />`],
  ["Changes", () => html`<${Changes} before=${BEFORE} after=${CODE} label="Changes" />`],
  [
    "Chart",
    () =>
      html`<${Chart}
        label="Revenue and costs"
        kind="text"
        places=${MONTHS}
        series=${SERIES}
        form="line"
      />`,
  ],
];

const turnOf = (turn, last) =>
  html`<ol class="turns">
    <${TurnView} turn=${turn} skew=${0} last=${last} conversationId="gallery" />
  </ol>`;

const turns = (recorded) =>
  Object.entries(recorded).flatMap(([name, records]) =>
    turnsOf(addRecords(emptyThread, records)).flatMap((turn, n) => [
      [`Turn: ${name} ${n + 1}`, () => turnOf(turn, true)],
      [
        `Steps: ${name} ${n + 1}`,
        () => html`<${Steps} of=${turn} view=${viewOf(newFeed, turn)} skew=${0} />`,
      ],
    ]),
  );

export function Gallery({ recorded }) {
  const groups = {
    Tokens: tokens,
    Controls: controls,
    Messages: messages,
    Requests: asked,
    Values: values,
    Turns: turns(recorded),
  };
  return html`<main class="gallery">
    <h1>Gallery</h1>
    ${Object.entries(groups).map(
      ([title, samples]) =>
        html`<section key=${title} aria-label=${title}>
          <h2>${title}</h2>
          ${samples.map(
            ([name, draw]) => html`<${Sample} key=${name} name=${name} draw=${draw} />`,
          )}
        </section>`,
    )}
  </main>`;
}

const Sample = ({ name, draw }) =>
  html`<figure class="gallery-sample" data-testid="sample">
    <figcaption>${name}</figcaption>
    ${["light", "dark"].map(
      (side) => html`<div key=${side} class="gallery-side" data-side=${side}>${draw(side)}</div>`,
    )}
  </figure>`;
