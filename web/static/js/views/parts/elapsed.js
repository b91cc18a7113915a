// Time that passes while something runs.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { elapsed } from "../../format.js";
import { html } from "../../view.js";

export function Elapsed({ since, skew }) {
  const seconds = Math.max(0, useNow() - skew - since) / 1000;
  return html`<span class="time">${elapsed(seconds)}</span>`;
}

const TICK = 250;
const now = signal(Date.now());
let watchers = 0;
let timer = null;

function useNow() {
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
