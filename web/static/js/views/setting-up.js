// What the start of the server is still setting up: a strip under the header, gone when all is ready.

import { partWords } from "../format.js";
import { html } from "../html.js";
import { Icon, StateIcon } from "../icons.js";
import { memo } from "../memo.js";

// A sandbox that can't be had is told in an empty conversation.
const isTold = ({ part, state, detail }) => state === "failed" && part !== "sandbox" && detail;

export const SettingUp = memo(({ unready = [] }) => {
  const working = unready.filter((part) => part.state === "working");
  return html`<div class="banners" role="status">
    ${
      working.length > 0 &&
      html`<p class="banner" data-tone="info" data-testid="setting-up">
      <${StateIcon} state="running" /><span><strong>Setting up.</strong> ${working.map(told).join(" · ")}. You can ask already: what a request needs, it waits for.</span>
    </p>`
    }
    ${unready.filter(isTold).map(
      ({
        part,
        detail,
      }) => html`<p key=${part} class="banner" data-tone="warn" data-testid="not-set-up">
      <${Icon} name="alert" /><span><strong>${partWords(part)}: not set up yet.</strong> It can’t be had now: ${detail}. The server tries again by itself.</span>
    </p>`,
    )}
  </div>`;
});

const told = ({ part, detail }) => detail || partWords(part);
