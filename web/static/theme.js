// A classic script in the head: sets what was chosen of theme and room before anything is painted;
// js/theme.js and js/room.js change it.
try {
  const root = document.documentElement;
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  const width = Number(localStorage.getItem("panel-width"));
  if (width > 0) root.style.setProperty("--panel-width", `${width}px`);
  if (localStorage.getItem("panel-open") === "false") root.dataset.panel = "closed";
} catch {
  // The browser keeps nothing; the system's theme shows.
}
