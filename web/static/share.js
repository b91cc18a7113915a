// The entry of a shared conversation's page, which anybody with the link may read: no socket, no
// library, no other page.

import { render } from "preact";
import { getShared } from "./js/api.js";
import { html } from "./js/html.js";
import { SharedConversation } from "./js/views/chat/shared.js";

const id = location.pathname.slice(1); // as conversationPath takes it
const place = document.getElementById("shared");

try {
  render(html`<${SharedConversation} id=${id} ...${await getShared(id)} />`, place);
} catch (error) {
  render(html`<${SharedConversation} id=${id} problem=${error.message} />`, place);
}
