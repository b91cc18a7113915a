// The text of a file as code, in the colours of its language, which is loaded when it is first needed.

import { useEffect, useState } from "preact/hooks";
import { html } from "../../html.js";
import { learn } from "../../languages.js";
import { CodeBlock } from "./code.js";
import { FoldedText } from "./folded-text.js";

const LONGEST = 200_000; // characters that are shown as one block of code

export function Source({ text, name, language, wide }) {
  const [known, setKnown] = useState("");
  useEffect(() => {
    learn(language).then(
      () => setKnown(language),
      (error) => console.info("not coloured:", error.message),
    );
  }, [language]);
  if (text.length > LONGEST)
    return html`<div class="value" data-filled=${wide}>
      <${FoldedText} text=${text} label=${name} open />
    </div>`;
  return html`<${CodeBlock} key=${known} code=${text} language=${known} label=${name} whole />`;
}
