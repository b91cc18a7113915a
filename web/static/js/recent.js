// Which tools stand beside an empty conversation.

const MOST = 6;

const newestFirst = (a, b) => b.created_at.localeCompare(a.created_at);
const mostUsedFirst = (a, b) => b.uses - a.uses || a.name.localeCompare(b.name);

// Those that a model wrote, newest first; if there are none, those that are used most. Seed tools have no model.
export function recentTools(tools) {
  const offered = (tools ?? []).filter(({ standing }) => standing !== "retired");
  const built = offered.filter(({ model }) => model).toSorted(newestFirst);
  return built.length > 0
    ? { built: true, shown: built.slice(0, MOST) }
    : { built: false, shown: offered.toSorted(mostUsedFirst).slice(0, MOST) };
}
