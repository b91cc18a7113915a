// The feed of a turn's steps: which are open, which are shown, and what a search finds in them.

import { candidatesOf, LIKELY, outcomeOf, titleOf } from "./outcome.js";

// A step is named by its path: its key, after the keys of what it stands in, such as plan-1/2/search-1.
export const newFeed = {
  folds: {}, // by turn: {all: whether every step is open, null: as it comes, own: {path: open}}
  errors: false, // whether only what failed is shown
  search: null, // {text, at, own}: `own` are steps that a person folded while the search shows
  goal: null, // the step to go to: {turnId, path}
};
const noFolds = { all: null, own: {} };

export function* nodesIn(steps, above = "") {
  for (const step of steps) {
    const path = above + step.key;
    yield { path, step };
    yield* below(step, path);
  }
}

export const pathOfPart = (path, index) => `${path}/${index + 1}`;

function* below({ parts = [], steps = [] }, path) {
  for (const [index, part] of parts.entries()) {
    const at = pathOfPart(path, index);
    yield { path: at, step: part };
    yield* nodesIn(part.steps, `${at}/`);
  }
  yield* nodesIn(steps, `${path}/`);
}

const above = (path) => path.split("/").map((_, i, keys) => keys.slice(0, i + 1).join("/"));
const withAbove = (paths) => new Set(paths.flatMap(above));

export const failedIn = (steps) =>
  [...nodesIn(steps)].filter(({ step }) => step.state === "failed").map(({ path }) => path);

// A step with nothing more to show than its line.
export function isBare(step) {
  const { kind, state, artifact, stream } = step;
  switch (kind) {
    case "specify":
    case "test":
    case "implement":
    case "compare":
      return !artifact && !(stream && (state === "running" || kind !== "specify"));
    case "strengthen":
      return !/"survivors": ?\[ ?\{/.test(artifact);
    case "verify":
      return step.tests.length + step.repeats.length === 0;
    case "no_tool_found":
      return !step.understood && candidatesOf(step).length === 0;
    case "tool_found":
      return !step.understood && !step.reason && candidatesOf(step).length < 2;
    default:
      return SINGLE.has(kind);
  }
}

const SINGLE = new Set(
  "search waiting probe register refactor respond tool_standing_changed consent turn_stopped".split(
    " ",
  ),
);

// Running and failed steps are open, unless a person or a search says otherwise.
export function isOpen(view, path, { state }) {
  const { folds, search, found } = view;
  if (found?.has(path)) return search.own[path] ?? true;
  return folds.own[path] ?? folds.all ?? (state === "running" || state === "failed");
}

// The values of one turn's feed for the views. `shown` is null if all steps are; `matches` are the
// steps with the words.
export function viewOf(feed, { id, steps }) {
  const { search, errors } = feed;
  const matches = search?.text ? matching(steps, search.text) : [];
  return {
    turnId: id,
    folds: feed.folds[id] ?? noFolds,
    search,
    matches,
    found: matches.length > 0 ? withAbove(matches) : null,
    shown: errors ? withAbove(failedIn(steps)) : null,
  };
}

// A text as a pattern, without regard to case; null if there is none.
export function patternOf(text) {
  const words = text.trim();
  return words ? new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu") : null;
}

export function matching(steps, text) {
  const pattern = patternOf(text);
  if (!pattern) return [];
  return [...nodesIn(steps)]
    .filter(({ step }, _, all) => textsOf(step, steps).some((one) => one.search(pattern) >= 0))
    .map(({ path }) => path);
}

// Fields that are not text for people, or are shown in a step of their own.
const UNREAD = new Set([
  "key", "kind", "state", "id", "prompt", "agent", "sender", "recipient", "course", "steps", "parts",
  "needs", "data", "sha256", "outcome", "where", "then",
]); // prettier-ignore

function textsOf(step, steps) {
  const { stream, ...rest } = step;
  const said = step.kind ? [titleOf(step), outcomeOf(step, steps)] : [];
  return [...said, ...strings(step.artifact ? rest : step)];
}

function* strings(value) {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const one of value) yield* strings(one);
  else if (value && typeof value === "object")
    for (const [key, one] of Object.entries(value)) if (!UNREAD.has(key)) yield* strings(one);
}

// Tools that came near, and behind “more” those that hardly did.
export function likelyFirst(candidates) {
  const likely = candidates.filter(({ confidence }) => confidence == null || confidence >= LIKELY);
  return { likely, rest: candidates.slice(likely.length) };
}

const changed = (state, change) => ({ ...state, feed: { ...state.feed, ...change } });

const folded = (feed, turnId, change) => ({
  ...feed.folds,
  [turnId]: { ...(feed.folds[turnId] ?? noFolds), ...change },
});

export const feedChanges = {
  step_toggled(state, { turnId, path, open }) {
    const { feed } = state;
    const { own } = feed.folds[turnId] ?? noFolds;
    return changed(state, {
      folds: folded(feed, turnId, { own: { ...own, [path]: open } }),
      search: feed.search && { ...feed.search, own: { ...feed.search.own, [path]: open } },
    });
  },
  steps_toggled: (state, { turnId, open }) =>
    changed(state, { folds: folded(state.feed, turnId, { all: open, own: {} }) }),
  errors_only: (state, { only }) => changed(state, { errors: only }),
  feed_searched: (state, { text }) =>
    changed(state, { search: text === null ? null : { text, at: 0, own: {} } }),
  feed_stepped: (state, { by }) =>
    changed(state, { search: { ...state.feed.search, at: state.feed.search.at + by } }),
  step_wanted(state, { turnId, path }) {
    const { feed } = state;
    const { own } = feed.folds[turnId] ?? noFolds;
    const open = Object.fromEntries(above(path).map((at) => [at, true]));
    return {
      ...changed(state, {
        folds: folded(feed, turnId, { own: { ...own, ...open } }),
        errors: false,
        search: null,
        goal: { turnId, path },
      }),
      selectedTurn: turnId,
    };
  },
  step_reached: (state) => changed(state, { goal: null }),
};
