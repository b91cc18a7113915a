// The shortcuts, and which of them a key is.

export const SHORTCUTS = [
  { keys: ["Enter"], words: "Send the request" },
  { keys: ["Shift", "Enter"], words: "New line" },
  { keys: ["↑"], words: "Edit the last request, in an empty composer" },
  { keys: ["Esc"], words: "Stop the running turn" },
  { keys: ["/"], words: "Go to the composer" },
  { keys: ["Ctrl", "Shift", "O"], words: "New conversation" },
  { keys: ["F2"], words: "Rename the conversation in focus" },
  { keys: ["Delete"], words: "Delete the conversation in focus" },
  { keys: ["Ctrl", "/"], words: "Show these shortcuts" },
];

// `covered`: something open takes the keys; `writes`: the focus is in a field; `composes`: in the composer. On a Mac the command key counts as Ctrl. A slash may need Shift.
export function commandOf(event, { covered, writes, composes }) {
  const { key, shiftKey, altKey, isComposing, repeat } = event;
  const control = event.ctrlKey || event.metaKey;
  if (covered || isComposing || repeat) return null;
  if (control && key === "/") return "list";
  if (control && shiftKey && !altKey && key.toLowerCase() === "o") return "begin";
  if (control || altKey) return null;
  if (key === "Escape" && (!writes || composes)) return "stop";
  return key === "/" && !writes ? "focus" : null;
}
