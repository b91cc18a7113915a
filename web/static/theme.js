// A classic script in the head: sets the chosen theme before anything is painted.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // The browser keeps nothing; the system's theme shows.
}
