// Changes that a person makes to a tool for everyone, one at a time.

import { postForget, postRollback, postStanding } from "./api.js";
import { dispatch, store } from "./store.js";

const changed = (tool) => ({ type: "tool_changed", tool });

export const rollBack = (name, to) => change(name, () => postRollback(name, to), changed);
export const retire = (name) => change(name, () => postStanding(name, "retire"), changed);
export const restore = (name) => change(name, () => postStanding(name, "restore"), changed);
export const freeze = (name, frozen) =>
  change(name, () => postStanding(name, frozen ? "freeze" : "unfreeze"), changed);
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
