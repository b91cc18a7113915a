import assert from "node:assert/strict";
import test from "node:test";

import { birthsIn, builders } from "../../web/static/js/births.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import {
  REPAIRED,
  executing,
  executed,
  finished,
  found,
  journal,
  started,
  step,
} from "./journal.js";

const SPECIFICATION = {
  name: "reverse",
  parameters: [{ name: "text", annotation: "str", default: null }],
  returns: "str",
};
const artifact = JSON.stringify(SPECIFICATION);

const turnOf = (id, events) =>
  journal(events).reduce((t, r) => foldEvent(t, r.event, Date.parse(r.at)), newTurn(id, 0));

// The same with another end of `register`, and mutants tried.
const built = (text = "reverse is in the library.") =>
  REPAIRED.flatMap((event) => {
    if (event.step === "specify" && event.state === "finished") return [{ ...event, artifact }];
    if (event.step !== "register") return [event];
    if (event.state === "finished") return [{ ...event, text }];
    const strength = JSON.stringify({ killed: 3, mutants: 4, survivors: [] });
    return [
      step("strengthen", "started"),
      step("strengthen", "finished", { artifact: strength }),
      event,
    ];
  });

test("a tool that a turn built is told with its tests, the planted bugs and the time", () => {
  const [birth] = birthsIn(turnOf("t1", built()).steps);
  assert.deepEqual(birth, {
    name: "reverse",
    specification: SPECIFICATION,
    version: 1,
    passed: 2,
    tests: 2,
    caught: { killed: 3, mutants: 4, survivors: [] },
    seconds: birth.seconds,
  });
  assert.ok(birth.seconds > 20 && birth.seconds < 60, String(birth.seconds));
});

test("a new version is a birth, a tool that was there already is none", () => {
  const births = (text) => birthsIn(turnOf("t1", built(text)).steps);
  assert.equal(births("reverse is in the library, as version 3.")[0].version, 3);
  assert.deepEqual(births("flip is in the library already, and it is used."), []);
  assert.deepEqual(
    births("reverse was registered by another turn meanwhile; that one is used."),
    [],
  );
  assert.deepEqual(birthsIn(turnOf("t1", [started("hi"), found, finished("Hi")]).steps), []);
});

test("what a step of a plan built is a birth of its turn", () => {
  const within = built()
    .slice(1, -3)
    .map((event) => ({ ...event, plan_step: "a" }));
  const plan = { type: "plan_made", steps: [{ id: "a", request: "reverse", needs: [] }] };
  const begun = { type: "plan_step", step: "a", state: "started", text: "", seconds: 0 };
  const { steps } = turnOf("t1", [started("do it"), plan, begun, ...within]);
  assert.deepEqual(
    birthsIn(steps).map(({ name }) => name),
    ["reverse"],
  );
});

test("a turn that uses the tool knows the turn that built it", () => {
  const use = [started("again"), found, executing, executed, finished("ok", "reverse")];
  const turns = [
    turnOf("t1", built()),
    turnOf("t2", use),
    turnOf("t3", [started("sum"), found, finished("3", "add")]),
  ];
  assert.deepEqual(
    builders(turns).map((turn) => turn?.id ?? null),
    [null, "t1", null],
  );
});
