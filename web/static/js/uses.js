// How often a tool was called over time: by day, or by week where the calls reach further back.

const DAY = 86_400_000;
const FEWEST_DAYS = 14;
const MOST_DAYS = 60; // that are drawn one by one
const MOST_WEEKS = 53;

// A day of this machine's calendar, as the milliseconds of its midnight in UTC, which is what charts draw.
const dayOf = (moment) => Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate());

// {unit, places, returned, failed} of the calls that a tool's page has: the first day of each
// place, and the calls then.
export function usesOver(calls, now) {
  const today = dayOf(new Date(now));
  const days = calls.map(({ at, returned }) => ({ day: dayOf(new Date(at)), returned }));
  const first = Math.min(today, ...days.map(({ day }) => day));
  const reach = Math.max(FEWEST_DAYS, (today - first) / DAY + 1);
  const step = reach > MOST_DAYS ? 7 : 1;
  const count = Math.min(Math.ceil(reach / step), MOST_WEEKS * (step === 7 ? 1 : 7));
  const start = today - (count * step - 1) * DAY;
  const places = Array.from({ length: count }, (_, i) => start + i * step * DAY);
  const [returned, failed] = [true, false].map((wanted) => {
    const counts = places.map(() => 0);
    for (const one of days) {
      const place = Math.floor((one.day - start) / DAY / step);
      if (one.returned === wanted && place >= 0 && place < count) counts[place] += 1;
    }
    return counts;
  });
  return { unit: step === 7 ? "week" : "day", places, returned, failed };
}
