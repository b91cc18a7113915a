// The steps of a project: an action with its reason and what it changed or ran, and an examination.

import { figuresText, unifiedLines } from "../../build.js";
import { fileSize } from "../../format.js";
import { Markdown } from "../../markdown.js";
import { isPicture, isTable } from "../../files.js";
import { fileOf, targetOf } from "../../projects.js";
import { dispatch, html, Icon, store, t } from "../../view.js";
import { Contents } from "../values/files.js";
import { diffLine } from "../values/changes.js";
import { Disclosure } from "../parts/disclosure.js";
import { Output } from "../values/code.js";

export function ActStep({ step }) {
  const { reasoning, arguments: args = {}, change, run, tested, state, kind } = step;
  const target = targetOf(step);
  const undone = state === "failed" && !change && !run && !tested && kind !== "give_up";
  return html`${reasoning && html`<p class="step-text" data-testid="reasoning">${reasoning}</p>`}${
    (args.summary || args.reason) && html`<${Markdown} text=${args.summary ?? args.reason} />`
  }${
    target && !run && !change && html`<p class="call"><code>${target}</code></p>`
  }${change && html`<${Diff} change=${change} />`}${run && html`<${Run} run=${run} />`}${
    tested && html`<${Tested} tested=${tested} />`
  }${undone && html`<p class="step-note">${t("act-undone")}</p>`}`;
}

export function CheckStep({ step: { figures, tested, run } }) {
  return html`${
    figures && html`<p class="step-text" data-testid="figures">${figuresText(figures)}</p>`
  }${
    figures?.invalid.length > 0 &&
    html`<ul class="output" data-testid="invalid">
      ${figures.invalid.map((text) => html`<li key=${text}>${text}</li>`)}
    </ul>`
  }${tested && html`<${Tested} tested=${tested} />`}${run && html`<${Run} run=${run} folded />`}`;
}

function Diff({ change: { path, change, diff } }) {
  return html`<p class="call">
      <code>${path}</code> <span class="muted">${t(`act-${change}`)}</span>
    </p>
    ${
      diff &&
      html`<div class="code">
        <pre
          tabindex="0"
          aria-label=${t("act-changes", { path })}
          data-testid="diff"
        ><code class="diff">${unifiedLines(diff).map(diffLine)}</code></pre>
      </div>`
    }`;
}

function Tested({ tested }) {
  return tested.map(
    ({ path, success, output }) =>
      html`<div
        class="tested"
        key=${path}
        data-testid="tested"
        data-outcome=${success ? "passed" : "failed"}
      >
        <p class="tested-line">
          <${Icon} name=${success ? "check" : "cross"} /><code>${path}</code
          ><span class="muted">${t(success ? "act-passes" : "act-fails")}</span>
        </p>
        <${Disclosure} key=${success} label=${t("act-output")} open=${!success}>
          <${Output} label=${t("act-output-of", { path })} text=${output} />
        <//>
      </div>`,
  );
}

// The output and pictures of a run that only examines stay folded: the actual run shows them.
function Run({ run, folded = false }) {
  const { path, arguments: args, success, exitCode, ended, stdout, stderr, made, refused } = run;
  const output = html`${
    stdout && html`<${Output} data-testid="stdout" label=${t("act-stdout")} text=${stdout} />`
  }
  ${
    stderr &&
    html`<p class="step-note">${t("act-stderr")}</p>
      <${Output} data-testid="stderr" label=${t("act-stderr")} text=${stderr} />`
  }`;
  return html`<p class="call" data-testid="run" data-outcome=${success ? "passed" : "failed"}>
      <code>${["python", path, ...args].join(" ")}</code>${" "}<span class="muted"
        >${ended || t("act-exit-code", { code: String(exitCode) })}</span
      >
    </p>
    ${
      (stdout || stderr) &&
      (folded && success ? html`<${Disclosure} label=${t("act-printed")}>${output}<//>` : output)
    }${made.map((file) => html`<${Made} key=${file.path} file=${file} />`)}${
      refused.length > 0 &&
      html`<${Disclosure} label=${t("act-refused")}
        ><ul class="output">
          ${refused.map((text) => html`<li key=${text}>${text}</li>`)}
        </ul><//
      >`
    }`;
}

// A file as it is now; one that is gone, or was refused, is only named.
function Made({ file }) {
  const { conversationId } = store.value;
  const kept = fileOf(store.value, file.path);
  if (!kept)
    return html`<p class="made-line">
      <${Icon} name="file" /><span class="file-name">${file.path}</span
      ><span class="file-size">${fileSize(file.size)}</span>
    </p>`;
  return html`<div class="made-file" data-testid="made-file">
    ${(isPicture(kept) || isTable(kept)) && html`<${Contents} id=${conversationId} file=${kept} />`}
    <button class="file" onClick=${() => dispatch({ type: "file_opened", path: kept.path })}>
      <${Icon} name="file" /><span class="file-name">${kept.path}</span
      ><span class="file-size">${fileSize(kept.size)}</span>
    </button>
  </div>`;
}
