// What an empty conversation shows: what this is, and example requests.

import { EXAMPLES } from "../examples.js";
import { firstLine } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { dispatch } from "../store.js";
import { Problem } from "./problem.js";

export const Empty = memo(({ sandbox, preparing, loading, missing }) => {
  if (loading)
    return html`<div class="empty"><span class="spinner" role="img" aria-label="Loading the conversation"></span></div>`;
  return html`<div class="empty">
    ${missing && html`<${Problem} testid="missing" tone="calm" title="This conversation isn’t here" message="It was deleted, or it belongs to somebody else. Begin a new one below, or choose one of yours from the list." />`}
    <h2 class="empty-title">What do you need done?</h2>
    <p class="empty-text">If the library has a tool for it, it runs at once. If not, one is written here in front of you, tested in a sandbox, and kept for the next time.</p>
    ${sandbox && !sandbox.available && !preparing && html`<p class="callout" data-tone="warn"><${Icon} name="alert" /><span><strong>Code can’t run at the moment.</strong> ${sandbox.detail}</span></p>`}
    <h3 class="eyebrow">Try one of these</h3>
    <ul class="examples">
      ${EXAMPLES.map(
        (
          text,
        ) => html`<li key=${text}><button type="button" class="example" data-testid="example" onClick=${() => dispatch({ type: "example_chosen", text })}>
        <span>${firstLine(text)}</span><${Icon} name="chevronRight" />
      </button></li>`,
      )}
    </ul>
  </div>`;
});
