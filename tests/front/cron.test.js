import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOf, cronOf, planOf } from "../../web/static/js/cron.js";

const CHOICES = [
  [{ every: "hour", time: "00:15" }, "15 * * * *"],
  [{ every: "day", time: "08:05" }, "5 8 * * *"],
  [{ every: "workday", time: "18:30" }, "30 18 * * 1-5"],
  [{ every: "week", time: "08:00", weekday: 1 }, "0 8 * * 1"],
  [{ every: "month", time: "07:00", day: 31 }, "0 7 31 * *"],
  [{ every: "cron", cron: "*/5 * * * *" }, "*/5 * * * *"],
];

test("choices are fields of cron, and the fields the choices", () => {
  for (const [choices, cron] of CHOICES) {
    assert.equal(cronOf({ time: "08:00", ...choices }), cron);
    assert.deepEqual(choicesOf(cron), choices);
  }
});

test("days have names, and what no choice means stays as it is", () => {
  assert.deepEqual(choicesOf("0 8 * * MON"), { every: "week", time: "08:00", weekday: 1 });
  assert.deepEqual(choicesOf("0 8 * * 7"), { every: "week", time: "08:00", weekday: 0 });
  assert.deepEqual(choicesOf("0 8 * * mon-fri"), { every: "workday", time: "08:00" });
  for (const cron of ["@daily", "0 8 1 * 1", "0 * 1 * *", "0 8 * 1 *", "0 8 * * soon"])
    assert.deepEqual(choicesOf(cron), { every: "cron", cron });
});

test("a form's fields become what begins runs and where results go", () => {
  const form = { time: "08:00", every: "day", hook: "", folder: "", pattern: "*", deliver: "" };
  assert.deepEqual(planOf(form), { cron: "0 8 * * *" });
  assert.deepEqual(planOf({ ...form, every: "hook", hook: "KEY" }), { cron: "", hook: "KEY" });
  const files = { ...form, every: "file", folder: "/in", pattern: "*.csv" };
  const watch = { folder: "/in", pattern: "*.csv" };
  assert.deepEqual(planOf(files), { cron: "", watch });
  assert.deepEqual(planOf({ ...form, deliver: "folder", url: "https://left.over" }).deliver, {
    kind: "folder",
  });
  const mail = { to: "a@b.org", sender: "c@b.org", server: "mail.b.org", secret: "PASS" };
  assert.deepEqual(planOf({ ...form, deliver: "mail", ...mail, port: "587", user: "" }).deliver, {
    kind: "mail",
    ...mail,
    port: 587,
  });
});
