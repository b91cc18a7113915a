// How often a schedule runs: the choices of a form as cron's five fields, and back.

export const EVERY = ["hour", "day", "workday", "week", "month", "cron"];
// The fields of each delivery but a folder's, with their types and whether they are needed.
export const DELIVERS = {
  webhook: [
    ["url", "url", true],
    ["secret", "text", true],
  ],
  mail: [
    ["to", "email", true],
    ["sender", "email", true],
    ["server", "text", true],
    ["port", "number", false],
    ["user", "text", false],
    ["secret", "text", true],
  ],
};
export const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

// `time` is such as 08:00; `weekday` 0 to 6 from Sunday; `day` of the month; `cron` what was written by hand.
export function cronOf({ every, time, weekday, day, cron }) {
  const [hour, minute] = time.split(":").map(Number);
  switch (every) {
    case "hour":
      return `${minute} * * * *`;
    case "day":
      return `${minute} ${hour} * * *`;
    case "workday":
      return `${minute} ${hour} * * 1-5`;
    case "week":
      return `${minute} ${hour} * * ${weekday}`;
    case "month":
      return `${minute} ${hour} ${day} * *`;
    default:
      return cron.trim();
  }
}

// What begins the runs of a schedule, and where results go, as the server takes them from a form's fields.
export function planOf(form) {
  const { every, hook, folder, pattern, deliver: kind } = form;
  const fields = kind === "folder" ? ["form"] : (DELIVERS[kind] ?? []).map(([field]) => field);
  const filled = fields.filter((field) => form[field]).map((field) => [field, form[field]]);
  const { port, ...deliver } = { kind, ...Object.fromEntries(filled) };
  return {
    cron: every === "file" || every === "hook" ? "" : cronOf(form),
    ...(every === "hook" && { hook }),
    ...(every === "file" && { watch: { folder, pattern } }),
    ...(kind && { deliver: { ...deliver, ...(port && { port: Number(port) }) } }),
  };
}

// What `cronOf` made such fields of; `every` is "cron" for all others.
export function choicesOf(cron) {
  const match = /^(\d{1,2}) (\d{1,2}|\*) (\d{1,2}|\*) \* (\*|1-5|mon-fri|\w+)$/i.exec(cron.trim());
  if (!match) return { every: "cron", cron };
  const [, minute, hour, day, weekday] = match.map((part) => part.toLowerCase());
  const time = [hour === "*" ? "0" : hour, minute].map((part) => part.padStart(2, "0")).join(":");
  const named = DAYS.includes(weekday) ? DAYS.indexOf(weekday) : Number(weekday) % 7;
  const free = `${hour === "*" ? "*" : "h"} ${day === "*" ? "*" : "d"} ${weekday === "*" ? "*" : "w"}`;
  if (free === "* * *") return { every: "hour", time };
  if (free === "h * *") return { every: "day", time };
  if (free === "h d *") return { every: "month", time, day: Number(day) };
  if (free !== "h * w") return { every: "cron", cron };
  if (weekday === "1-5" || weekday === "mon-fri") return { every: "workday", time };
  return Number.isNaN(named) ? { every: "cron", cron } : { every: "week", time, weekday: named };
}
