// Small choices of a person, kept in the browser's storage by name, as JSON.

// The value that was stored by this name, as JSON; `otherwise` if there is none.
export function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise; // The browser stores nothing, or something else wrote there.
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The browser stores nothing: it is forgotten.
  }
}
