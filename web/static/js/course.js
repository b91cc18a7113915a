// The course of a turn, a step of its plan or a delegation through the graph: each stage that it
// reached, by which symbol, and for how long.

export const enter = (course, { node, symbol }, at) => [
  ...leave(course, "done", at),
  { node, symbol, state: "running", startedAt: at, seconds: null },
];

// Ends the current stage.
export function leave(course, state, at) {
  const last = course.at(-1);
  if (last?.state !== "running") return course;
  return course.with(-1, { ...last, state, seconds: Math.max(0, (at - last.startedAt) / 1000) });
}

// Of the whole graph, the state of each stage when it was last left, and the transitions that were taken.
export function marksOf(course) {
  const nodes = Object.fromEntries(course.map(({ node, state }) => [node, state]));
  const taken = new Set(course.slice(1).map(({ node }, i) => `${course[i].node} ${node}`));
  return { nodes, taken };
}
