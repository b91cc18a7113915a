// Changes that a person makes to a tool for everybody, one at a time.

import { postRollback, postStanding } from "./api.js";
import { dispatch, store } from "./store.js";

export const rollBack = (name, to) => change(name, () => postRollback(name, to));
export const retire = (name) => change(name, () => postStanding(name, "retire"));
export const restore = (name) => change(name, () => postStanding(name, "restore"));

async function change(name, request) {
  if (store.peek().changing) return;
  dispatch({ type: "tool_change_begun", name });
  try {
    dispatch({ type: "tool_changed", tool: await request() });
  } catch (error) {
    const remedy = error.remedy ?? "Check that the server runs, then try again.";
    dispatch({ type: "tool_change_refused", name, error: { message: error.message, remedy } });
  }
}
