// Additions to drawn Markdown by libraries that are loaded when a text needs them: formulas, colours
// of code, diagrams. Until then, and if it fails, the text shows as it is written.

import { t } from "./texts.js";
import { theme } from "./theme.js";

const loaded = {};

// `whole`: nothing of the text is being written any more.
// `knows` is true if `highlight` has the colours of a language already.
export function enrich(root, { highlight, knows }, whole) {
  drawAll(
    root,
    "code.math",
    "formulas",
    () => import("./formulas.js"),
    (node, { draw }) => draw(node),
  );
  drawAll(
    root,
    'code[class^="language-"]:not(.language-mermaid)',
    "languages",
    () => import("./languages.js"),
    async (node, { learn }) => {
      const language = node.className.slice("language-".length);
      if (!knows(language) && (await learn(language)))
        node.innerHTML = highlight(node.textContent, language);
    },
  );
  if (whole)
    drawAll(root, "code.language-mermaid", "diagrams", () => import("./diagrams.js"), drawDiagram);
}

async function drawAll(root, selector, name, load, draw) {
  const nodes = [...root.querySelectorAll(selector)];
  if (nodes.length === 0) return;
  try {
    // Without a pause if it is here, so that what was drawn before does not flicker.
    const library = loaded[name] ?? (loaded[name] = await load());
    nodes.forEach((node) => draw(node, library));
  } catch (error) {
    console.info("not loaded:", error.message);
  }
}

async function drawDiagram(node, { draw }) {
  const picture = await draw(node.textContent, theme.value);
  if (!picture || !node.isConnected) return;
  const image = document.createElement("img");
  image.className = "diagram";
  image.dataset.theme = theme.value;
  image.src = picture;
  image.alt = t("answer-diagram", { text: node.textContent });
  node.closest("pre").replaceWith(image);
}
