// The dialog with the links of a conversation: make one, copy it, let it show what is there now, revoke it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { getShares, postShare, renewShare, revokeShare } from "../../api.js";
import { copy, selectAll } from "../../clipboard.js";
import { moment } from "../../format.js";
import { dispatch, html, Icon, t } from "../../view.js";
import { Dialog } from "../parts/dialog.js";
import { ErrorWords } from "../parts/problem.js";
import { Select } from "../parts/controls.js";

const ENDS = [null, 7, 30]; // days; null: never
const LOCAL = /^(localhost|.*\.localhost|127\..*|\[::1\])$/;

// Runs a change, then loads the list again and reports the change; an error is shown in the dialog.
async function perform(id, change = () => {}, told = "") {
  try {
    const share = await change();
    if (share?.path) dispatch({ type: "share_made", id, share });
    dispatch({ type: "shares_loaded", id, shares: await getShares(id), told });
  } catch (error) {
    dispatch({ type: "share_refused", id, error });
  }
}

export function Share({ sharing: { id, shares, made, told, error }, title }) {
  const [days, setDays] = useState(null);
  useEffect(() => void perform(id), []);
  const create = (event) => {
    event.preventDefault();
    perform(id, () => postShare(id, days));
  };
  return html`<${Dialog}
    kind="share"
    title=${t("share-title", { title: title ?? "" })}
    testid="share"
    close=${() => dispatch({ type: "share_closed" })}
  >
    <p class="share-text">${t("share-text")}</p>
    <form class="share-form" onSubmit=${create}>
      <label class="field"
        >${t("share-ends")}
        <${Select}
          class="input"
          data-testid="share-days"
          value=${days}
          options=${ENDS.map((one) => [one, one ? t("share-days", { days: one }) : t("share-never")])}
          choose=${setDays}
        />
      </label>
      <button type="submit" class=${made ? "button" : "button primary"} data-testid="share-create">
        <${Icon} name="share" />${t("share-create")}
      </button>
    </form>
    ${made && html`<${Made} key=${made.id} path=${made.path} />`}
    ${told && html`<p class="share-told" data-testid="share-told">${told}</p>`}
    ${error && html`<div class="share-problem" role="alert"><${ErrorWords} error=${error} /></div>`}
    <${Links} id=${id} shares=${shares} />
  <//>`;
}

function Made({ path }) {
  const field = useRef(null);
  const [copied, setCopied] = useState(false);
  const address = location.origin + path;
  const press = async () => {
    await copy(address);
    setCopied(true);
  };
  useLayoutEffect(() => selectAll(field.current), []);
  return html`<div class="share-made">
    <label class="field" for="share-link">${t("share-link")}</label>
    <div class="share-link">
      <input
        class="input"
        id="share-link"
        readonly
        ref=${field}
        data-testid="share-link"
        value=${address}
        aria-describedby="share-once"
        onFocus=${(e) => selectAll(e.target)}
      /><button class="button primary" data-testid="share-copy" onClick=${press}>
        <${Icon} name=${copied ? "check" : "copy"} />${copied ? t("share-copied") : t("share-copy")}
      </button>
    </div>
    <p class="share-note" id="share-once">
      ${t("share-once")} ${LOCAL.test(location.hostname) && t("share-local")}
    </p>
  </div>`;
}

function Links({ id, shares }) {
  if (!shares) return null;
  if (shares.length === 0)
    return html`<p class="share-note" data-testid="share-none">${t("share-none")}</p>`;
  return html`<section aria-labelledby="share-links">
    <h3 class="eyebrow" id="share-links">${t("share-links")}</h3>
    <ul class="share-list">
      ${shares.map((share) => html`<${Link} key=${share.id} id=${id} share=${share} />`)}
    </ul>
  </section>`;
}

function Link({
  id,
  share: { id: shareId, created_at: made, updated_at: updated, expires_at: ends },
}) {
  const button = (testid, words, change) =>
    html`<button
      class="button quiet"
      data-testid=${testid}
      aria-label=${`${words}: ${moment(made)}`}
      onClick=${change}
    >
      ${words}
    </button>`;
  const renew = () => perform(id, () => renewShare(id, shareId), t("share-renewed"));
  const revoke = async () => {
    await perform(id, () => revokeShare(id, shareId), t("share-revoked"));
    document.querySelector("[data-testid=share-create]")?.focus(); // this row is gone
  };
  return html`<li class="share-row" data-testid="share-row">
    <div class="share-facts">
      <p>${t("share-made-at", { time: moment(made) })}</p>
      <p class="share-note">
        ${t("share-shows", { time: moment(updated) })}${" "}${
          ends ? t("share-ends-at", { time: moment(ends) }) : t("share-stays")
        }
      </p>
    </div>
    <div class="share-actions">
      ${button("share-renew", t("share-renew"), renew)}${button(
        "share-revoke",
        t("share-revoke"),
        revoke,
      )}
    </div>
  </li>`;
}
