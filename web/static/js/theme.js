// The theme: the system's, until a person chooses; ../theme.js applies the choice before the first paint.

import { signal } from "@preact/signals";

const KEY = "theme";
const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const shown = () => root.dataset.theme ?? (systemIsDark.matches ? "dark" : "light");

export const theme = signal(shown());

systemIsDark.addEventListener("change", () => (theme.value = shown()));

export const themeChoice = () => root.dataset.theme ?? "system";

export function chooseTheme(choice) {
  if (choice === "system") delete root.dataset.theme;
  else root.dataset.theme = choice;
  theme.value = shown();
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // The browser stores nothing: the choice lasts until the page is closed.
  }
}
