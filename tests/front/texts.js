// The module "#texts" of the tests: the English catalogue.

import { readFileSync } from "node:fs";

export const catalogueOf = (language) =>
  readFileSync(new URL(`../../web/static/locales/${language}.ftl`, import.meta.url), "utf8");

export default catalogueOf("en");
