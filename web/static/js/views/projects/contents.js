// The content of a project's file.

import { html } from "../../html.js";
import { lazy } from "../../lazy.js";
import { fileAddress } from "../../projects.js";

const FileContents = lazy(async () => (await import("../values/rich.js")).FileContents);

export const Contents = ({ id, file }) =>
  html`<${FileContents} key=${file.sha256} file=${file} address=${fileAddress(id, file)} />`;
