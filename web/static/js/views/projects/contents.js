// The content of a project's file.

import { lazy } from "../../lazy.js";
import { fileAddress } from "../../projects.js";
import { html } from "../../view.js";

const FileContents = lazy(async () => (await import("../values/rich.js")).FileContents);

export const Contents = ({ id, file }) =>
  html`<${FileContents} key=${file.sha256} file=${file} address=${fileAddress(id, file)} />`;
