// The clock of running steps; it stops while nothing shows it.

import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";

const TICK = 250;
const now = signal(Date.now());
let watchers = 0;
let timer = null;

export function useNow() {
  useEffect(() => {
    watchers += 1;
    timer ??= setInterval(() => (now.value = Date.now()), TICK);
    return () => {
      watchers -= 1;
      if (watchers === 0) timer = clearInterval(timer) ?? null;
    };
  }, []);
  return now.value;
}
