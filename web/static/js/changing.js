// Changes that a person makes to a tool for everyone, one at a time.

import { postForget, postRollback, postStanding } from "./api.js";
import { dispatch, store } from "./store.js";

const changed = (tool) => ({ type: "tool_changed", tool });

export const rollBack = (name, to) => change(name, () => postRollback(name, to), changed);
// `to` is retire, restore, freeze or unfreeze.
export const setStanding = (name, to) => change(name, () => postStanding(name, to), changed);
export const forget = (name, request) =>
  change(
    name,
    () => postForget(name, request),
    (tool) => ({ type: "request_forgotten", name, tool }),
  );

async function change(name, request, made) {
  if (store.peek().changing) return;
  dispatch({ type: "tool_change_begun", name });
  try {
    dispatch(made(await request()));
  } catch (error) {
    dispatch({ type: "tool_change_refused", name, error });
  }
}
