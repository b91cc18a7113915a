// Formulas by KaTeX, as MathML, which browsers draw without a sheet or fonts of ours.

import katex from "katex";

export function draw(node) {
  const displayMode = node.classList.contains("display");
  const drawn = document.createElement("span");
  drawn.className = node.className.replace("math", "formula");
  try {
    const options = { displayMode, output: "mathml", maxExpand: 500, maxSize: 20, strict: false };
    katex.render(node.textContent, drawn, options);
  } catch {
    return; // not TeX, or a macro that it lacks: shown as it is written
  }
  node.replaceWith(drawn);
}
