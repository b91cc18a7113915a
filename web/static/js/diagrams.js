// Diagrams by Mermaid, in a sandboxed frame with a policy of its own, and shown as pictures, which can't act.

const root = location.pathname.startsWith("/share/") ? location.pathname.replace(/\/$/, "") : "";
const waiting = new Map();
let frame = null;

// The address of a picture, or "" if the text is not a diagram.
export async function draw(text, theme) {
  frame ??= open();
  await frame.ready;
  const number = waiting.size + 1;
  const picture = new Promise((resolve) => waiting.set(number, resolve));
  frame.element.contentWindow.postMessage({ number, text, theme }, "*"); // a sandboxed frame has no origin
  return picture;
}

function open() {
  const element = document.createElement("iframe");
  element.className = "diagrams-frame";
  element.setAttribute("sandbox", "allow-scripts");
  element.setAttribute("aria-hidden", "true");
  element.tabIndex = -1;
  element.src = `${root}/diagram`;
  const ready = new Promise((resolve) => {
    addEventListener("message", ({ source, data }) => {
      if (source !== element.contentWindow) return;
      if (data.ready) resolve();
      else
        waiting.get(data.number)?.(
          data.svg && `data:image/svg+xml,${encodeURIComponent(data.svg)}`,
        );
    });
  });
  document.body.append(element);
  return { element, ready };
}
