// What the server is still setting up: a strip under the header, until all is ready.

import { partWords } from "../format.js";
import { html } from "../html.js";
import { Icon, StateIcon } from "../icons.js";
import { memo } from "../memo.js";

// An empty conversation reports a missing sandbox.
const isTold = ({ part, state, detail }) => state === "failed" && part !== "sandbox" && detail;

export const SettingUp = memo(({ unready = [] }) => {
  const working = unready.filter((part) => part.state === "working");
  return html`<div class="banners" role="status">
    ${
      working.length > 0 &&
      html`<p class="banner" data-tone="info" data-testid="setting-up">
      <${StateIcon} state="running" /><span><strong>Setting up.</strong> ${working.map(told).join(" · ")}. You can already send requests; they wait for what they need.</span>
    </p>`
    }
    ${unready.filter(isTold).map(
      ({
        part,
        detail,
      }) => html`<p key=${part} class="banner" data-tone="warn" data-testid="not-set-up">
      <${Icon} name="alert" /><span><strong>${partWords(part)}: not set up yet.</strong> ${detail[0].toUpperCase()}${detail.slice(1)}. The server will try again.</span>
    </p>`,
    )}
  </div>`;
});

const told = ({ part, detail }) => detail || partWords(part);
