// The steps of a turn, of one part of its plan or of an agent's work, in the order in which they happened.

import { isOpen } from "../../feed.js";
import { previous } from "../../steps.js";
import { html } from "../../view.js";
import { Step } from "./step.js";

// Only these also depend on other steps, and are drawn again when one of those changes.
const SEES_ALL = new Set(["test", "verify", "turn_failed"]);
const HOLDS_STEPS = new Set(["plan", "delegation"]);

// `view` is what the feed shows of the turn, `above` the path of what the steps stand in.
export function Steps({ of, view, above = "", skew }) {
  const all = of.steps
    .map((step) => ({ step, path: above + step.key }))
    .filter(({ path }) => !view.shown || view.shown.has(path));
  return html`<ol class="steps">
    ${all.map(
      ({ step, path }) =>
        html`<${Step}
          key=${`${view.turnId} ${path}`}
          ...${{ step, path, skew }}
          turnId=${view.turnId}
          open=${isOpen(view, path, step)}
          found=${Boolean(view.found?.has(path))}
          view=${HOLDS_STEPS.has(step.kind) ? view : null}
          before=${step.kind === "implement" ? previous(of.steps, step) : null}
          steps=${SEES_ALL.has(step.kind) ? of.steps : null}
        />`,
    )}
  </ol>`;
}
