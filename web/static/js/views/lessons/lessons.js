// The lessons of earlier turns: read, reworded and deleted.

import { useRef } from "preact/hooks";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { memo } from "../../memo.js";
import { t } from "../../texts.js";
import { Lesson } from "./lesson.js";

export const Lessons = memo(({ lessons }) => {
  const list = useRef(null);
  return html`<section aria-label=${t("panel-lessons")} data-testid="lessons">
    <div
      class="panel-scroller"
      ref=${list}
      tabindex="0"
      role="region"
      aria-label=${t("lessons-all")}
    >
      ${lessons?.length === 0 && html`<${NoLessons} />`}
      <ul class="lesson-list">
        ${(lessons ?? []).map(
          (lesson) =>
            html`<${Lesson}
              key=${lesson.id}
              lesson=${lesson}
              removed=${() => list.current?.focus()}
            />`,
        )}
      </ul>
    </div>
  </section>`;
});

function NoLessons() {
  return html`<div class="nothing">
    <${Icon} name="lamp" />
    <p class="nothing-title">${t("lessons-none")}</p>
    <p>${t("lessons-none-text")}</p>
  </div>`;
}
