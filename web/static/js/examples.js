// Example requests, one for each kind of work, and the sample file of one of them.

import { t } from "./texts.js";

const SALES = `month,revenue,costs
2025-01,12400,9800
2025-02,11800,9500
2025-03,13900,10100
2025-04,15200,10400
2025-05,14700,10300
2025-06,16800,10900
2025-07,17500,11200
2025-08,16100,11000
2025-09,18300,11600
2025-10,19700,12100
2025-11,21400,12900
2025-12,24600,13800
`;

export const EXAMPLES = [
  { id: "library", icon: "book" },
  { id: "build", icon: "hammer" },
  { id: "file", icon: "file", file: { name: "sales.csv", text: SALES } },
  { id: "plan", icon: "checks" },
  { id: "script", icon: "code" },
  { id: "project", icon: "folder" },
];

// In words that the offline model knows, too.
export const requestOf = ({ id }) => t(`example-${id}-request`);

// The sample file as one that a person has picked.
export function filesOf({ id, file }) {
  if (!file) return [];
  const content = new Blob([file.text], { type: "text/csv" });
  return [{ key: `sample-${id}`, name: file.name, size: content.size, content }];
}
