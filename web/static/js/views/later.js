// Views that are loaded with the first view, dialog or form next to a conversation. They come together: with
// more modules that load later, more files that each of them shares with the page load at first.

import texts from "#later-texts";
import { addTexts } from "../texts.js";

addTexts(texts);

export { Activity } from "./activity/activity.js";
export { Lacking } from "./chat/lacking.js";
export { Share } from "./chat/share.js";
export { Lessons } from "./lessons/lessons.js";
export { Library } from "./library/library.js";
export { Project } from "./projects/project.js";
export { NewProject } from "./projects/project-form.js";
export { Settings } from "./settings/settings.js";
