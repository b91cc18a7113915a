// Languages that code is coloured in, beside Python and JSON.

import { register } from "./markdown.js";

const LOADS = {
  bash: () => import("@highlightjs/cdn-assets/es/languages/bash.min.js"),
  css: () => import("@highlightjs/cdn-assets/es/languages/css.min.js"),
  ini: () => import("@highlightjs/cdn-assets/es/languages/ini.min.js"),
  javascript: () => import("@highlightjs/cdn-assets/es/languages/javascript.min.js"),
  markdown: () => import("@highlightjs/cdn-assets/es/languages/markdown.min.js"),
  sql: () => import("@highlightjs/cdn-assets/es/languages/sql.min.js"),
  xml: () => import("@highlightjs/cdn-assets/es/languages/xml.min.js"),
  yaml: () => import("@highlightjs/cdn-assets/es/languages/yaml.min.js"),
};

export async function learn(language) {
  if (Object.hasOwn(LOADS, language)) register(language, (await LOADS[language]()).default);
}
