// Drafts: what is written but not sent, kept for each conversation.

const MOST = 30;
const LONGEST = 50_000;
// Characters of a request, as in src/selfeng/engine.py.
export const LONGEST_REQUEST = 20_000;
const NONE = { text: "", files: [], after: null };

// Whether a pasted text is better a file.
export const isLong = (text) => text.length > LONGEST_REQUEST / 2;

// A new conversation has no id yet.
const keyOf = (id) => id ?? "";

// The newest drafts, that of the open conversation last.
function draftsOf({ conversationId, draft, draftAfter: after, attached, drafts }) {
  const { [keyOf(conversationId)]: replaced, ...others } = drafts;
  const kept = Object.entries(others);
  if (draft.trim() || attached.length > 0)
    kept.push([keyOf(conversationId), { text: draft, files: attached, after }]);
  return Object.fromEntries(kept.slice(-MOST));
}

// The state in another conversation: what was being written there is back in the composer.
export function inConversation(state, id) {
  if (id === state.conversationId) return state;
  const { [keyOf(id)]: { text, files, after = null } = NONE, ...drafts } = draftsOf(state);
  const draft = { draft: text, draftAfter: after, attached: files };
  return { ...state, conversationId: id, drafts, ...draft };
}

// As text for the browser's storage, which takes no files; very long drafts are left out.
export function packed(state) {
  const texts = Object.entries(draftsOf(state)).map(([key, { text }]) => [key, text]);
  return JSON.stringify(texts.filter(([, text]) => text && text.length <= LONGEST));
}

// The drafts in a text that was packed; none if it is anything else.
export function unpacked(text) {
  try {
    const texts = JSON.parse(text).filter((pair) => pair.every((part) => typeof part === "string"));
    return Object.fromEntries(texts.map(([key, words = ""]) => [key, { text: words, files: [] }]));
  } catch {
    return {};
  }
}

// The state of a page that was just opened, with the drafts of the tab's earlier page.
export function withDrafts(state, drafts) {
  const { [keyOf(state.conversationId)]: { text } = NONE, ...others } = drafts;
  return { ...state, drafts: others, draft: state.draft || text };
}
