// A request on its way to the server, or one that the server refused.

import { retry } from "../connection.js";
import { html } from "../html.js";
import { memo } from "../memo.js";
import { dispatch } from "../store.js";
import { RequestFiles } from "./files.js";
import { Problem } from "./problem.js";

export const Pending = memo(({ pending }) => {
  const { key, text, files, error } = pending;
  const edit = () => {
    dispatch({ type: "pending_dismissed", key });
    dispatch({ type: "example_chosen", text, files });
  };
  return html`<li class="turn" data-testid="pending">
    <div class="request-line"><p class="request">${text}</p></div>
    <${RequestFiles} files=${files} />
    ${!error && html`<p class="now"><span class="spinner" aria-hidden="true"></span>Sending</p>`}
    ${
      error &&
      html`<${Problem} title="Not sent" message=${error.message} remedy=${error.remedy}>
      <button type="button" class="button" onClick=${() => retry(pending)}>Send again</button>
      <button type="button" class="button quiet" onClick=${edit}>Edit</button>
    <//>`
    }
  </li>`;
});
