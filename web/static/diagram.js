// The script of the frame that draws diagrams; js/diagrams.js asks it. It reaches no server and no cookie.

const { mermaid } = globalThis;
let last = Promise.resolve();

addEventListener("message", ({ data, source }) => {
  if (source === parent) last = last.then(() => answer(data));
});

async function answer({ number, text, theme }) {
  let svg = "";
  try {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      theme: theme === "dark" ? "dark" : "default",
    });
    svg = sized((await mermaid.render(`diagram-${number}`, text)).svg);
  } catch (error) {
    console.info("not a diagram:", error.message);
  }
  parent.postMessage({ number, svg }, "*");
}

// A picture has no room that its width could be a part of.
function sized(svg) {
  const element = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
  const { width, height } = element.viewBox.baseVal;
  element.setAttribute("width", width);
  element.setAttribute("height", height);
  element.removeAttribute("style");
  return new XMLSerializer().serializeToString(element);
}

parent.postMessage({ ready: true }, "*");
