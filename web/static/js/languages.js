// Languages that code is coloured in, beside Python and JSON, which the page has from the start.

import { knows, register } from "./markdown.js";

const LOADS = {
  bash: () => import("@highlightjs/cdn-assets/es/languages/bash.min.js"),
  c: () => import("@highlightjs/cdn-assets/es/languages/c.min.js"),
  cpp: () => import("@highlightjs/cdn-assets/es/languages/cpp.min.js"),
  csharp: () => import("@highlightjs/cdn-assets/es/languages/csharp.min.js"),
  css: () => import("@highlightjs/cdn-assets/es/languages/css.min.js"),
  diff: () => import("@highlightjs/cdn-assets/es/languages/diff.min.js"),
  dockerfile: () => import("@highlightjs/cdn-assets/es/languages/dockerfile.min.js"),
  go: () => import("@highlightjs/cdn-assets/es/languages/go.min.js"),
  ini: () => import("@highlightjs/cdn-assets/es/languages/ini.min.js"),
  java: () => import("@highlightjs/cdn-assets/es/languages/java.min.js"),
  javascript: () => import("@highlightjs/cdn-assets/es/languages/javascript.min.js"),
  kotlin: () => import("@highlightjs/cdn-assets/es/languages/kotlin.min.js"),
  latex: () => import("@highlightjs/cdn-assets/es/languages/latex.min.js"),
  lua: () => import("@highlightjs/cdn-assets/es/languages/lua.min.js"),
  makefile: () => import("@highlightjs/cdn-assets/es/languages/makefile.min.js"),
  markdown: () => import("@highlightjs/cdn-assets/es/languages/markdown.min.js"),
  php: () => import("@highlightjs/cdn-assets/es/languages/php.min.js"),
  powershell: () => import("@highlightjs/cdn-assets/es/languages/powershell.min.js"),
  r: () => import("@highlightjs/cdn-assets/es/languages/r.min.js"),
  ruby: () => import("@highlightjs/cdn-assets/es/languages/ruby.min.js"),
  rust: () => import("@highlightjs/cdn-assets/es/languages/rust.min.js"),
  scala: () => import("@highlightjs/cdn-assets/es/languages/scala.min.js"),
  sql: () => import("@highlightjs/cdn-assets/es/languages/sql.min.js"),
  swift: () => import("@highlightjs/cdn-assets/es/languages/swift.min.js"),
  typescript: () => import("@highlightjs/cdn-assets/es/languages/typescript.min.js"),
  xml: () => import("@highlightjs/cdn-assets/es/languages/xml.min.js"),
  yaml: () => import("@highlightjs/cdn-assets/es/languages/yaml.min.js"),
};
const OTHER_NAMES = {
  "c#": "csharp",
  "c++": "cpp",
  cs: "csharp",
  docker: "dockerfile",
  golang: "go",
  html: "xml",
  js: "javascript",
  jsx: "javascript",
  kt: "kotlin",
  make: "makefile",
  md: "markdown",
  ps1: "powershell",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  tex: "latex",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  yml: "yaml",
  zsh: "bash",
};

// Whether code of the language can now be coloured.
export async function learn(word) {
  const language = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : word;
  if (!knows(language) && Object.hasOwn(LOADS, language))
    register(language, (await LOADS[language]()).default);
  return knows(word);
}
