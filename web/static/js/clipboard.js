// Copying text; pages that are not on localhost or https have no clipboard API.

// Selects the whole text of a field, and shows its beginning.
export function selectAll(field) {
  field.focus();
  field.select();
  field.scrollLeft = 0;
}

export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
