// A request on its way to the server, or one that the server refused.

import { retry } from "../../connection.js";
import { percent } from "../../format.js";
import { dispatch, html, Icon, memo, Spinner, t } from "../../view.js";
import { RequestFiles } from "../values/files.js";
import { Problem } from "../parts/problem.js";

// `waits`: there is no connection; `upload`: how much of which file is sent.
export const Pending = memo(({ pending, upload, waits }) => {
  const { key, text, files, after, error } = pending;
  const dismiss = () => dispatch({ type: "pending_dismissed", key });
  const edit = () => {
    dismiss();
    dispatch({ type: "example_chosen", text, files, after });
  };
  return html`<li class="turn" data-testid="pending">
    <div class="request-line"><p class="request">${text}</p></div>
    <${RequestFiles} files=${files} />
    ${
      !error &&
      !waits &&
      html`<p class="now" data-testid="pending-sending">
        <${Spinner} />${
          upload
            ? t("pending-uploading", { name: upload.name, share: percent(upload.share) })
            : t("pending-sending")
        }
      </p>`
    }
    ${
      !error &&
      (waits || upload) &&
      html`<div class="pending-waits" data-testid=${waits ? "pending-waits" : "pending-upload"}>
        ${waits && html`<p><${Icon} name="pause" />${t("pending-waits")}</p>`}
        <button class="button" onClick=${edit}>${t("pending-edit")}</button>
        <button class="button" data-testid="pending-cancel" onClick=${dismiss}>
          ${t("pending-cancel")}
        </button>
      </div>`
    }
    ${
      error &&
      html`<${Problem} title=${t("pending-not-sent")} ...${error}>
        <button class="button" onClick=${() => retry(pending)}>${t("pending-again")}</button>
        <button class="button quiet" onClick=${edit}>${t("pending-edit")}</button>
      <//>`
    }
  </li>`;
});
